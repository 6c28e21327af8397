SELECT
  "value", struct_extract(CAST(row("label") AS STRUCT("text" TEXT)), 'text') AS "label",
  CAST(DENSE_RANK() OVER (ORDER BY "label" ASC NULLS LAST) - 1 AS BIGINT) AS "code"
FROM (
  SELECT "value", LEFT(CAST("value" AS TEXT), 2) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 2) AS "label"
  FROM (SELECT DISTINCT "zip" AS "value" FROM "source") AS "occurring"
) AS "labelled"
