-- Look for: the texts of values as literals of SQL, quotes doubled; a value that does not come back from its text as
-- it was is left out; numbered in value order, so that a seed means the same again.

CREATE TEMPORARY TABLE "__sqlanon_values_1" AS
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank",
  '''' || replace(CAST("value" AS TEXT), '''', '''''') || '''' AS "text"
FROM (
  SELECT *
  FROM (SELECT DISTINCT "dob" AS "value" FROM "memory"."main"."patients") AS "value"
  WHERE "value" = TRY_CAST(CAST("value" AS TEXT) AS DATE)
) AS "known";

CREATE TEMPORARY TABLE "__sqlanon_values_2" AS
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank",
  '''' || replace(CAST("value" AS TEXT), '''', '''''') || '''' AS "text"
FROM ({known-4("sex")}) AS "known";

CREATE TEMPORARY TABLE "__sqlanon_values_3" AS
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank",
  '''' || replace(CAST("value" AS TEXT), '''', '''''') || '''' AS "text"
FROM ({known-4("zip")}) AS "known";

CREATE TEMPORARY TABLE "__sqlanon_values_4" AS
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank",
  '''' || replace(CAST("value" AS TEXT), '''', '''''') || '''' AS "text"
FROM ({known-4("disease")}) AS "known";
