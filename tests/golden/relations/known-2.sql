SELECT
  "point"."region", MIN(CASE WHEN NOT ("point"."r_0" = "nulls"."null_0") THEN "point"."r_0" END) AS "least_0",
  MAX(CASE WHEN NOT ("point"."r_0" = "nulls"."null_0") THEN "point"."r_0" END) AS "most_0",
  BOOL_OR(CAST("point"."r_0" = "nulls"."null_0" AS BOOLEAN)) AS "with_null_0",
  MIN(CASE WHEN NOT ("point"."r_1" = "nulls"."null_1") THEN "point"."r_1" END) AS "least_1",
  MAX(CASE WHEN NOT ("point"."r_1" = "nulls"."null_1") THEN "point"."r_1" END) AS "most_1",
  BOOL_OR(CAST("point"."r_1" = "nulls"."null_1" AS BOOLEAN)) AS "with_null_1"
FROM "__sqlanon_points_done_2" AS "point"
CROSS JOIN (
  SELECT
    COALESCE(({ranked("__sqlanon_ranked_1")}), -1) AS "null_0",
    COALESCE(({ranked("__sqlanon_ranked_3")}), -1) AS "null_1"
) AS "nulls"
GROUP BY "point"."region"
