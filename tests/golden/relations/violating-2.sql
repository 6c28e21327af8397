SELECT "class_id"
FROM (
  SELECT "class_id", MAX("size") AS "size", MAX("excess") AS "excess"
  FROM (
    ({violation-2({#1}, 2)})
    UNION ALL
    (
      WITH "whole" AS ({whole-3({#2})}), "class" AS (
        SELECT
          "s"."class_id", MAX("c"."size") AS "size", MAX("w"."total") AS "total",
          MAX("w"."farthest") - CAST(0.09 AS DOUBLE) AS "most",
          MAX("w"."total" * CAST("c"."size" AS DOUBLE)) AS "scale",
          SUM(LEAST(
            CAST("s"."n" AS DOUBLE) * "w"."total", CAST(COALESCE("v"."n", 0) AS DOUBLE) * CAST("c"."size" AS DOUBLE)
          )) AS "common"
        FROM {#3} AS "s"
        JOIN {#1} AS "c" ON "c"."class_id" = "s"."class_id"
        CROSS JOIN "whole" AS "w"
        LEFT JOIN {#2} AS "v" ON "v"."value" = "s"."value"
        GROUP BY "s"."class_id"
      )
      SELECT
        "class_id", "size",
        CASE
          WHEN "most" > 1e-9
          THEN CAST("size" AS DOUBLE) * LEAST(
            1, GREATEST(0, ("scale" - "common") / NULLIF("scale", 0) - CAST(0.09 AS DOUBLE)) / NULLIF("most", 0)
          )
          ELSE CAST(0 AS DOUBLE)
        END AS "excess"
      FROM "class"
      WHERE
        CAST("scale" - "common" AS DECIMAL(38, 0)) * CAST('100' AS DECIMAL(38, 0)) > CAST('9' AS DECIMAL(38, 0)) * CAST("scale" AS DECIMAL(38, 0))
    )
  ) AS "violation"
  GROUP BY "class_id"
) AS "violations"
