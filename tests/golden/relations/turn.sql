SELECT "region", UNNEST("labels") AS "label", {#1} AS "width", {#2}, {#3}
FROM (
  SELECT
    "region".*,
    CASE
      WHEN "region"."rows" >= 6 AND "region"."high_0" > "region"."low_0" AND ("region"."tried" & 1) = 0
      THEN CAST(1.0 AS DOUBLE) * (("last_0"."position" - "first_0"."position") / CAST(6828.0 AS DOUBLE))
    END AS "width_0",
    CASE
      WHEN "region"."rows" >= 6 AND "region"."high_1" > "region"."low_1" AND ("region"."tried" & 2) = 0
      THEN CAST(1.0 AS DOUBLE) * (CAST((("region"."high_1" - "region"."low_1") + 1) AS DOUBLE) / CAST(2.0 AS DOUBLE))
    END AS "width_1",
    CASE
      WHEN "region"."rows" >= 6 AND "region"."high_2" > "region"."low_2" AND ("region"."tried" & 4) = 0
      THEN CAST(1.0 AS DOUBLE) * (CAST((("region"."high_2" - "region"."low_2") + 1) AS DOUBLE) / CAST(14.0 AS DOUBLE))
    END AS "width_2"
  FROM "__sqlanon_regions_1" AS "region"
  JOIN "__sqlanon_ranked_1" AS "first_0" ON "first_0"."rank_0" = "region"."low_0"
  JOIN "__sqlanon_ranked_1" AS "last_0" ON "last_0"."rank_0" = "region"."high_0"
) AS "wide"
WHERE NOT {#1} IS NULL
