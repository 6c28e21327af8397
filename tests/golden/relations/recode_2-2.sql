SELECT
  "value",
  "system"."main".struct_extract(CAST("system"."main"."row"("label") AS STRUCT("text" TEXT)), 'text') AS "label",
  CAST("system"."main"."-"("system"."main".dense_rank() OVER (ORDER BY "label" ASC NULLS LAST), 1) AS BIGINT) AS "code"
FROM (
  SELECT
    "value",
    "system"."main"."||"(
      "system"."main"."left"(CAST("value" AS TEXT), {#1}),
      "system"."main".repeat('*', "system"."main"."-"("system"."main".length(CAST("value" AS TEXT)), {#1}))
    ) AS "label"
  FROM (SELECT DISTINCT "zip" AS "value" FROM "source") AS "occurring"
) AS "labelled"
