-- Look for: a cell in a region keeps its number of rows; spans are compared, not labels.

CREATE TEMPORARY TABLE "__sqlanon_points_done_1" AS
SELECT
  "placed"."region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_1", CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_2",
  "point"."n" AS "n"
FROM "__sqlanon_points_1" AS "point"
POSITIONAL JOIN "__sqlanon_placed_1" AS "placed";

SELECT
  "region"."rows" AS "n", COALESCE("known"."least_0", 1) AS "low_0", COALESCE("known"."most_0", 0) AS "high_0",
  CASE WHEN "known"."with_null_0" THEN 1 ELSE 0 END AS "null_0", COALESCE("known"."least_1", 1) AS "low_1",
  COALESCE("known"."most_1", 0) AS "high_1", CASE WHEN "known"."with_null_1" THEN 1 ELSE 0 END AS "null_1",
  COALESCE("known"."least_2", 1) AS "low_2", COALESCE("known"."most_2", 0) AS "high_2",
  CASE WHEN "known"."with_null_2" THEN 1 ELSE 0 END AS "null_2"
FROM "__sqlanon_regions_done_1" AS "region"
JOIN ({known("__sqlanon_regions_done_1")}) AS "known" ON "region"."region" = "known"."region";
