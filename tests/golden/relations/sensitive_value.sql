WITH "whole" AS (SELECT CAST(SUM("n") AS DOUBLE) AS "total" FROM "sensitive_value_0" AS "sensitive_value"), "class" AS (
  SELECT
    "s"."class_id", MAX("w"."total" * CAST("c"."size" AS DOUBLE)) AS "scale",
    SUM(LEAST(
      CAST("s"."n" AS DOUBLE) * "w"."total", CAST(COALESCE("v"."n", 0) AS DOUBLE) * CAST("c"."size" AS DOUBLE)
    )) AS "common"
  FROM "class_sensitive_value_0" AS "s"
  JOIN "equivalence_class" AS "c" ON "c"."class_id" = "s"."class_id"
  CROSS JOIN "whole" AS "w"
  LEFT JOIN "sensitive_value_0" AS "v" ON "v"."value" = "s"."value"
  GROUP BY "s"."class_id"
)
SELECT MAX(("scale" - "common") / NULLIF("scale", 0)) AS "achieved"
FROM "class"
