SELECT
  "point"."region", MIN(CASE WHEN NOT ("point"."r_0" = "nulls"."null_0") THEN "point"."r_0" END) AS "least_0",
  MAX(CASE WHEN NOT ("point"."r_0" = "nulls"."null_0") THEN "point"."r_0" END) AS "most_0",
  BOOL_OR(CAST("point"."r_0" = "nulls"."null_0" AS BOOLEAN)) AS "with_null_0"
FROM "__sqlanon_points_done_3" AS "point"
CROSS JOIN (SELECT COALESCE(({ranked("__sqlanon_ranked_2")}), -1) AS "null_0") AS "nulls"
GROUP BY "point"."region"
