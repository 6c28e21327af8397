SELECT
  "point"."region",
  MIN(
    CASE WHEN NOT ("point"."r_0" = COALESCE(({ranked("__sqlanon_ranked_2")}), -1)) THEN "point"."r_0" END
  ) AS "least_0",
  MAX(
    CASE WHEN NOT ("point"."r_0" = COALESCE(({ranked("__sqlanon_ranked_2")}), -1)) THEN "point"."r_0" END
  ) AS "most_0",
  BOOL_OR(CAST("point"."r_0" = COALESCE(({ranked("__sqlanon_ranked_2")}), -1) AS BOOLEAN)) AS "with_null_0"
FROM "__sqlanon_points_done_3" AS "point"
GROUP BY "point"."region"
