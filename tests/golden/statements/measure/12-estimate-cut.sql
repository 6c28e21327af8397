-- Look for: the constants of all queries of a column together, each once per list; that of texts is the text itself.

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
FROM ({constant}) AS "constant"
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
FROM ({constant}) AS "constant"
WHERE NOT "text" IS NULL;

CREATE TEMPORARY TABLE "__sqlanon_cut_2" AS
SELECT TRY(("text")) AS "at"
FROM ({constant-2}) AS "constant"
WHERE NOT "text" IS NULL
UNION
SELECT TRY(("text")) AS "at"
FROM ({constant-2}) AS "constant"
WHERE NOT "text" IS NULL;
