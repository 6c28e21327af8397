-- Look for: the ranks of people alone: a counterfeit has no row to join.
-- At last the loss: counts of values between the ends of each bucket's ranges; no value itself leaves this query.

CREATE TEMPORARY TABLE "__sqlanon_points_1" AS
SELECT "dealt"."bucket" AS "region", "row"."r_0", "row"."r_1", "row"."r_2"
FROM "__sqlanon_source_row_1" AS "row"
JOIN "__sqlanon_in_bucket_1" AS "dealt" ON "row"."row_no" = "dealt"."row_no";

CREATE TEMPORARY TABLE "__sqlanon_regions_1" AS
SELECT
  "region", COUNT(*) AS "rows", MIN("r_0") AS "low_0", MAX("r_0") AS "high_0", MIN("r_1") AS "low_1",
  MAX("r_1") AS "high_1", MIN("r_2") AS "low_2", MAX("r_2") AS "high_2"
FROM "__sqlanon_points_1"
GROUP BY "region";

SELECT
  CAST(SUM("region"."rows") AS INT128),
  CAST(COALESCE(SUM("region"."rows" * COALESCE("known"."most_0" - "known"."least_0", 0)), 0) AS INT128),
  CAST(COALESCE(SUM("region"."rows" * COALESCE("known"."most_1" - "known"."least_1", 0)), 0) AS INT128),
  CAST(COALESCE(SUM("region"."rows" * COALESCE("known"."most_2" - "known"."least_2", 0)), 0) AS INT128)
FROM "__sqlanon_regions_1" AS "region"
JOIN ({known("__sqlanon_regions_1")}) AS "known" ON "region"."region" = "known"."region";
