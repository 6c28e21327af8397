SELECT
  "value", struct_extract(CAST(row("label") AS STRUCT("text" TEXT)), 'text') AS "label",
  CAST(DENSE_RANK() OVER (ORDER BY "label" ASC NULLS LAST) - 1 AS BIGINT) AS "code"
FROM (
  SELECT "value", "value" AS "label"
  FROM (SELECT DISTINCT "sex" AS "value" FROM "source") AS "occurring"
) AS "labelled"
