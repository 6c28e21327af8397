SELECT
  "point"."region", MIN(CASE WHEN NOT ("point"."r_0" = "nulls"."null_0") THEN "point"."r_0" END) AS "least_0",
  MAX(CASE WHEN NOT ("point"."r_0" = "nulls"."null_0") THEN "point"."r_0" END) AS "most_0",
  BOOL_OR(CAST("point"."r_0" = "nulls"."null_0" AS BOOLEAN)) AS "with_null_0",
  MIN(CASE WHEN NOT ("point"."r_1" = "nulls"."null_1") THEN "point"."r_1" END) AS "least_1",
  MAX(CASE WHEN NOT ("point"."r_1" = "nulls"."null_1") THEN "point"."r_1" END) AS "most_1",
  BOOL_OR(CAST("point"."r_1" = "nulls"."null_1" AS BOOLEAN)) AS "with_null_1",
  MIN(CASE WHEN NOT ("point"."r_2" = "nulls"."null_2") THEN "point"."r_2" END) AS "least_2",
  MAX(CASE WHEN NOT ("point"."r_2" = "nulls"."null_2") THEN "point"."r_2" END) AS "most_2",
  BOOL_OR(CAST("point"."r_2" = "nulls"."null_2" AS BOOLEAN)) AS "with_null_2"
FROM {#1} AS "point"
CROSS JOIN (
  SELECT
    COALESCE(({ranked("__sqlanon_ranked_1")}), -1) AS "null_0",
    COALESCE(({ranked("__sqlanon_ranked_2")}), -1) AS "null_1",
    COALESCE(({ranked("__sqlanon_ranked_3")}), -1) AS "null_2"
) AS "nulls"
GROUP BY "point"."region"
