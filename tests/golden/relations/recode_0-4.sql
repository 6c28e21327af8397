SELECT
  "value", struct_extract(CAST(row("label") AS STRUCT("text" TEXT)), 'text') AS "label",
  CAST(DENSE_RANK() OVER (ORDER BY "label" ASC NULLS LAST) - 1 AS BIGINT) AS "code"
FROM (
  SELECT
    "value",
    CASE
      WHEN "value" = CAST('infinity' AS DATE) THEN 'infinity'
      WHEN "value" = CAST('-infinity' AS DATE) THEN '-infinity'
      ELSE (CASE WHEN EXTRACT(YEAR FROM "value") < 0 THEN '-' ELSE '' END || (
        REPEAT('0', 4 - LENGTH(CAST(ABS(EXTRACT(YEAR FROM "value")) AS TEXT))) || CAST(ABS(EXTRACT(YEAR FROM "value")) AS TEXT)
      )) || '-' || (
        REPEAT('0', 2 - LENGTH(CAST(EXTRACT(MONTH FROM "value") AS TEXT))) || CAST(EXTRACT(MONTH FROM "value") AS TEXT)
      )
    END AS "label"
  FROM (SELECT DISTINCT "day" AS "value" FROM "source") AS "occurring"
) AS "labelled"
