-- Look for: the query's constants as days on the same axis; a constant within a day cuts behind it, too; what is no
-- date is counted by the second query.

CREATE TEMPORARY TABLE "__sqlanon_cut_1" AS
SELECT
  TRY(
    CASE
      WHEN NOT ISINF(TRY_CAST(("text") AS DATE))
      THEN CAST(DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), TRY_CAST(("text") AS DATE)) AS INT128)
      WHEN TRY_CAST(("text") AS DATE) > CAST('1970-01-01' AS DATE) THEN CAST(2147483647 AS INT128)
      WHEN NOT TRY_CAST(("text") AS DATE) IS NULL THEN CAST(-2147483647 AS INT128)
    END
  ) AS "at"
FROM (SELECT DISTINCT UNNEST([CAST(TRY((CAST('1950-06-10' AS DATE))) AS TEXT)]) AS "text") AS "constant"
WHERE NOT "text" IS NULL
UNION
SELECT
  (TRY(
    CASE
      WHEN NOT ISINF(TRY_CAST(("text") AS DATE))
      THEN CAST(DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), TRY_CAST(("text") AS DATE)) AS INT128)
      WHEN TRY_CAST(("text") AS DATE) > CAST('1970-01-01' AS DATE) THEN CAST(2147483647 AS INT128)
      WHEN NOT TRY_CAST(("text") AS DATE) IS NULL THEN CAST(-2147483647 AS INT128)
    END
  )) + CASE
    WHEN COALESCE(TRY(TRY_CAST(("text") AS TIMESTAMP) = CAST(TRY_CAST(("text") AS TIMESTAMP) AS DATE)), TRUE) THEN 0
    ELSE 1
  END AS "at"
FROM (SELECT DISTINCT UNNEST([CAST(TRY((CAST('1950-06-10' AS DATE))) AS TEXT)]) AS "text") AS "constant"
WHERE NOT "text" IS NULL;

SELECT COUNT(*) FROM "__sqlanon_cut_1" AS "cut" WHERE "at" IS NULL;
