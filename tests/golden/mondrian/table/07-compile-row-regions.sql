-- Look for: which combination of values lies in which region, once each: DISTINCT, with the values themselves in place
-- of ranks.

CREATE TEMPORARY TABLE "__sqlanon_row_regions_1" AS
SELECT "point"."region", "of_0"."value" AS "value_0", "of_1"."value" AS "value_1", "of_2"."value" AS "value_2"
FROM (SELECT DISTINCT "region", "r_0", "r_1", "r_2" FROM "__sqlanon_points_done_1" AS "points") AS "point"
JOIN "__sqlanon_ranked_1" AS "of_0" ON "of_0"."rank_0" = "point"."r_0"
JOIN "__sqlanon_ranked_2" AS "of_1" ON "of_1"."rank_0" = "point"."r_1"
JOIN "__sqlanon_ranked_3" AS "of_2" ON "of_2"."rank_0" = "point"."r_2";
