SELECT
  "value",
  "system"."main".struct_extract(CAST("system"."main"."row"("label") AS STRUCT("text" TEXT)), 'text') AS "label",
  CAST("system"."main"."-"("system"."main".dense_rank() OVER (ORDER BY "label" ASC NULLS LAST), 1) AS BIGINT) AS "code"
FROM (
  SELECT "value", "value" AS "label"
  FROM (SELECT DISTINCT "sex" AS "value" FROM "source") AS "occurring"
) AS "labelled"
