WITH "whole" AS ({whole-3("sensitive_value_0")}), "class" AS (
  SELECT
    "s"."class_id", MAX("c"."size") AS "size", MAX("w"."total") AS "total",
    MAX("w"."farthest") - CAST({#1} AS DOUBLE) AS "most", MAX("w"."total" * CAST("c"."size" AS DOUBLE)) AS "scale",
    SUM(LEAST(
      CAST("s"."n" AS DOUBLE) * "w"."total", CAST(COALESCE("v"."n", 0) AS DOUBLE) * CAST("c"."size" AS DOUBLE)
    )) AS "common"
  FROM "class_sensitive_value_0" AS "s"
  JOIN "equivalence_class" AS "c" ON "c"."class_id" = "s"."class_id"
  CROSS JOIN "whole" AS "w"
  LEFT JOIN "sensitive_value_0" AS "v" ON "v"."value" = "s"."value"
  GROUP BY "s"."class_id"
)
SELECT
  "class_id", "size",
  CASE
    WHEN "most" > 1e-9
    THEN CAST("size" AS DOUBLE) * LEAST(
      1, GREATEST(0, ("scale" - "common") / NULLIF("scale", 0) - CAST({#1} AS DOUBLE)) / NULLIF("most", 0)
    )
    ELSE CAST(0 AS DOUBLE)
  END AS "excess"
FROM "class"
WHERE
  CAST("scale" - "common" AS DECIMAL(38, 0)) * CAST({#2} AS DECIMAL(38, 0)) > CAST({#3} AS DECIMAL(38, 0)) * CAST("scale" AS DECIMAL(38, 0))
