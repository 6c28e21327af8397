WITH "total" AS ({total}), "figure" AS (
  SELECT
    "total"."key", "total"."number", "possible_rows" > 0 AS "possible", CAST("hits" AS DOUBLE) AS "count",
    CASE WHEN NOT "hits" IS NULL THEN SQRT(GREATEST(CAST("hits_variance" AS DOUBLE), 0)) END AS "count_spread",
    CAST(COALESCE("bound"."low", "certain_rows") AS BIGINT) AS "count_low",
    CAST(COALESCE("bound"."high", "possible_rows") + "withheld"."rows" AS BIGINT) AS "count_high"
  FROM "total"
  LEFT JOIN (
    SELECT "key", "number", SUM("low") AS "low", SUM("high") AS "high"
    FROM (
      WITH "placed" AS (
        SELECT
          "component", "place", "key", "number", SUM("possible") AS "possible", SUM("open") AS "open",
          SUM(LEAST("open", "satisfying")) AS "satisfying", SUM(LEAST("open", "failing")) AS "failing",
          SUM(LEAST("open", "apart")) AS "apart", BOOL_AND(CAST("whole" AS BOOLEAN)) AS "whole"
        FROM (
          WITH "counted" AS (
            SELECT *, COUNT(*) OVER (PARTITION BY "id", "key", "number") AS "holding"
            FROM (SELECT * FROM "__sqlanon_combination_1" AS "combination" WHERE "number" IN (1)) AS "combination"
            WHERE "holds"
          ), "class" AS (
            SELECT
              "component", "id", "key", "number", ANY_VALUE("drawn") AS "drawn", ANY_VALUE("n") AS "n",
              ANY_VALUE("holding") AS "holding", ANY_VALUE("holding" = "ways") AS "certain"
            FROM "counted"
            GROUP BY "component", "id", "key", "number"
          ), "asked" AS (
            SELECT
              "component", "place", "bucket", "key", "number", ANY_VALUE("total") AS "total", SUM("n") AS "possible",
              SUM(CASE WHEN "certain" THEN 0 ELSE "n" END) AS "open"
            FROM (
              SELECT "component", "key", "number", "n", "certain", UNNEST("drawn", "recursive" := TRUE)
              FROM "class"
            ) AS "taken"
            GROUP BY "component", "place", "bucket", "key", "number"
          ), "taken" AS (
            SELECT
              "id", "key", "number", "n", "ways", "holding", "holding" = "ways" AS "certain",
              UNNEST("drawn", "recursive" := TRUE)
            FROM "counted"
          ), "held" AS (
            SELECT
              "id", "key", "number", "place", "bucket", "signature", ANY_VALUE("n") AS "n",
              ANY_VALUE("weight") AS "weight", ANY_VALUE("holding") AS "holding", ANY_VALUE("certain") AS "certain",
              COUNT(*) * ANY_VALUE("signatures") = ANY_VALUE("ways") AS "always"
            FROM "taken"
            GROUP BY "id", "key", "number", "place", "bucket", "signature"
          ), "box" AS (
            SELECT "key", "number", "id", ABS(product("signatures") - ANY_VALUE("holding")) < 0.5 AS "whole"
            FROM (
              SELECT "key", "number", "id", "place", COUNT(*) AS "signatures", ANY_VALUE("holding") AS "holding"
              FROM "held"
              GROUP BY "key", "number", "id", "place"
            ) AS "side"
            GROUP BY "key", "number", "id"
          ), "whole" AS (
            SELECT
              "class"."component", "class"."key", "class"."number",
              BOOL_AND(CAST("class"."certain" OR "box"."whole" AS BOOLEAN)) AS "whole"
            FROM "class"
            JOIN "box"
              ON "class"."id" = "box"."id" AND "class"."key" IS NOT DISTINCT FROM "box"."key"
              AND "class"."number" = "box"."number"
            GROUP BY "class"."component", "class"."key", "class"."number"
          ), "value" AS (
            SELECT
              "place", "bucket", "key", "number", "signature", ANY_VALUE("weight") AS "weight",
              SUM(CASE WHEN "certain" THEN 0 ELSE "n" END) AS "open",
              SUM(CASE WHEN "always" THEN "n" ELSE 0 END) AS "always"
            FROM "held"
            GROUP BY "place", "bucket", "key", "number", "signature"
          ), "places" AS (
            SELECT "component", "key", "number", COUNT(DISTINCT "place") AS "places"
            FROM "asked"
            GROUP BY "component", "key", "number"
          )
          SELECT
            "asked"."component", "asked"."place", "asked"."bucket", "asked"."key", "asked"."number",
            ANY_VALUE("asked"."possible") AS "possible", ANY_VALUE("asked"."open") AS "open",
            SUM(LEAST("value"."weight", "value"."open")) AS "satisfying",
            ANY_VALUE("asked"."total") - SUM("value"."weight") + SUM(LEAST("value"."weight", "asked"."possible" - "value"."always")) AS "failing",
            ANY_VALUE("asked"."total") - SUM("value"."weight") + SUM(LEAST("value"."weight", "asked"."open" - "value"."open")) AS "apart",
            ANY_VALUE("whole"."whole") AS "whole", ANY_VALUE("places"."places") AS "places"
          FROM "asked"
          JOIN "value"
            ON "asked"."place" = "value"."place" AND "asked"."bucket" IS NOT DISTINCT FROM "value"."bucket"
            AND "asked"."key" IS NOT DISTINCT FROM "value"."key" AND "asked"."number" = "value"."number"
          JOIN "whole"
            ON "asked"."component" IS NOT DISTINCT FROM "whole"."component"
            AND "asked"."key" IS NOT DISTINCT FROM "whole"."key" AND "asked"."number" = "whole"."number"
          JOIN "places"
            ON "asked"."component" IS NOT DISTINCT FROM "places"."component"
            AND "asked"."key" IS NOT DISTINCT FROM "places"."key" AND "asked"."number" = "places"."number"
          GROUP BY "asked"."component", "asked"."place", "asked"."bucket", "asked"."key", "asked"."number"
        ) AS "bucket_limit"
        GROUP BY "component", "place", "key", "number"
      )
      SELECT
        "component", "key", "number",
        ANY_VALUE("possible") - LEAST(
          ANY_VALUE("open"), MIN("failing"),
          CASE WHEN BOOL_AND(CAST("whole" AS BOOLEAN)) THEN SUM("apart") ELSE ANY_VALUE("open") END
        ) AS "low",
        ANY_VALUE("possible") - ANY_VALUE("open") + MIN("satisfying") AS "high"
      FROM "placed"
      GROUP BY "component", "key", "number"
    ) AS "bound"
    GROUP BY "key", "number"
  ) AS "bound" ON "total"."key" IS NOT DISTINCT FROM "bound"."key" AND "total"."number" = "bound"."number"
  CROSS JOIN (SELECT CAST({#1} AS BIGINT) AS "rows") AS "withheld"
)
SELECT
  "key", "number", "possible",
  CASE
    WHEN NOT "count" IS NULL THEN LEAST(GREATEST("count", "count_low"), COALESCE(CAST("count_high" AS DOUBLE), "count"))
  END AS "count",
  "count_spread", "count_low", "count_high"
FROM "figure"
