-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_values_1" AS
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank",
  '''' || replace(CAST("value" AS TEXT), '''', '''''') || '''' AS "text"
FROM (
  SELECT
    *
  FROM (
    SELECT DISTINCT
      "dob" AS "value"
    FROM "memory"."main"."patients"
  ) AS "every"
  WHERE
    "value" = TRY_CAST(CAST("value" AS TEXT) AS DATE)
) AS "known";

CREATE TEMPORARY TABLE "__sqlanon_values_2" AS
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank",
  '''' || replace(CAST("value" AS TEXT), '''', '''''') || '''' AS "text"
FROM (
  SELECT
    *
  FROM (
    SELECT DISTINCT
      "sex" AS "value"
    FROM "memory"."main"."patients"
  ) AS "every"
  WHERE
    "value" = TRY_CAST(CAST("value" AS TEXT) AS TEXT)
) AS "known";

CREATE TEMPORARY TABLE "__sqlanon_values_3" AS
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank",
  '''' || replace(CAST("value" AS TEXT), '''', '''''') || '''' AS "text"
FROM (
  SELECT
    *
  FROM (
    SELECT DISTINCT
      "zip" AS "value"
    FROM "memory"."main"."patients"
  ) AS "every"
  WHERE
    "value" = TRY_CAST(CAST("value" AS TEXT) AS TEXT)
) AS "known";

CREATE TEMPORARY TABLE "__sqlanon_values_4" AS
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank",
  '''' || replace(CAST("value" AS TEXT), '''', '''''') || '''' AS "text"
FROM (
  SELECT
    *
  FROM (
    SELECT DISTINCT
      "disease" AS "value"
    FROM "memory"."main"."patients"
  ) AS "every"
  WHERE
    "value" = TRY_CAST(CAST("value" AS TEXT) AS TEXT)
) AS "known";
