SELECT "class_id"
FROM (
  SELECT "class_id", "system"."main".max("size") AS "size", "system"."main".max("excess") AS "excess"
  FROM (
    ({violation-3({#1}, 2)})
    UNION ALL
    (
      WITH "whole" AS (
        SELECT
          CAST("system"."main".sum("n") AS DOUBLE) AS "total",
          "system"."main"."-"(
            1,
            "system"."main"."/"(
              CAST("system"."main".min("n") AS DOUBLE),
              "system"."main"."nullif"(CAST("system"."main".sum("n") AS DOUBLE), 0)
            )
          ) AS "farthest"
        FROM {#2} AS "sensitive_value"
      ), "class" AS (
        SELECT
          "s"."class_id", "system"."main".max("c"."size") AS "size", "system"."main".max("w"."total") AS "total",
          "system"."main"."-"("system"."main".max("w"."farthest"), CAST(0.5 AS DOUBLE)) AS "most",
          "system"."main".max("system"."main"."*"("w"."total", CAST("c"."size" AS DOUBLE))) AS "scale",
          "system"."main".sum("system"."main".least(
            "system"."main"."*"(CAST("s"."n" AS DOUBLE), "w"."total"),
            "system"."main"."*"(CAST(COALESCE("v"."n", 0) AS DOUBLE), CAST("c"."size" AS DOUBLE))
          )) AS "common"
        FROM (
          (({#3} AS "s" INNER JOIN {#1} AS "c" ON (("c"."class_id" = "s"."class_id"))) CROSS JOIN "whole" AS "w")
          LEFT JOIN {#2} AS "v" ON (("v"."value" = "s"."value"))
        )
        GROUP BY "s"."class_id"
      )
      SELECT
        "class_id", "size",
        CASE
          WHEN (("most" > 1e-9))
          THEN ("system"."main"."*"(
            CAST("size" AS DOUBLE),
            "system"."main".least(
              1,
              "system"."main"."/"(
                "system"."main".greatest(
                  0,
                  "system"."main"."-"(
                    "system"."main"."/"("system"."main"."-"("scale", "common"), "system"."main"."nullif"("scale", 0)),
                    CAST(0.5 AS DOUBLE)
                  )
                ),
                "system"."main"."nullif"("most", 0)
              )
            )
          ))
          ELSE CAST(0 AS DOUBLE)
        END AS "excess"
      FROM "class"
      WHERE
        (
          "system"."main"."*"(
            CAST("system"."main"."-"("scale", "common") AS DECIMAL(38, 0)), CAST('2' AS DECIMAL(38, 0))
          ) > "system"."main"."*"(CAST('1' AS DECIMAL(38, 0)), CAST("scale" AS DECIMAL(38, 0)))
        )
    )
  ) AS "violation"
  GROUP BY "class_id"
) AS "violations"
