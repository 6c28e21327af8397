-- Look for: the texts of values as literals of SQL, quotes doubled; a value that does not come back from its text as
-- it was is left out; numbered in value order, so that a seed means the same again.

CREATE TEMPORARY TABLE "__sqlanon_values_1" AS
WITH "known" AS (
  SELECT "value"
  FROM (SELECT DISTINCT "dob" AS "value" FROM "memory"."main"."patients" AS "source") AS "different"
  WHERE "value" = TRY_CAST(CAST("value" AS TEXT) AS DATE)
)
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank",
  CASE
    WHEN FALSE AND isfinite(TRY_CAST("value" AS DOUBLE)) THEN CAST("value" AS TEXT)
    ELSE '''' || REPLACE(CAST("value" AS TEXT), '''', '''''') || ''''
  END AS "text"
FROM "known";

CREATE TEMPORARY TABLE "__sqlanon_values_2" AS
WITH "known" AS ({known-4("sex")})
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank",
  CASE
    WHEN FALSE AND isfinite(TRY_CAST("value" AS DOUBLE)) THEN CAST("value" AS TEXT)
    ELSE '''' || REPLACE(CAST("value" AS TEXT), '''', '''''') || ''''
  END AS "text"
FROM "known";

CREATE TEMPORARY TABLE "__sqlanon_values_3" AS
WITH "known" AS ({known-4("zip")})
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank",
  CASE
    WHEN FALSE AND isfinite(TRY_CAST("value" AS DOUBLE)) THEN CAST("value" AS TEXT)
    ELSE '''' || REPLACE(CAST("value" AS TEXT), '''', '''''') || ''''
  END AS "text"
FROM "known";

CREATE TEMPORARY TABLE "__sqlanon_values_4" AS
WITH "known" AS ({known-4("disease")})
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank",
  CASE
    WHEN FALSE AND isfinite(TRY_CAST("value" AS DOUBLE)) THEN CAST("value" AS TEXT)
    ELSE '''' || REPLACE(CAST("value" AS TEXT), '''', '''''') || ''''
  END AS "text"
FROM "known";
