-- Look for: counts of values between the ends of each bucket's ranges; no value itself leaves this query.

SELECT
  CAST(SUM("region"."rows") AS INT128), (SELECT SUM("leaf") - 1 FROM "__sqlanon_ranked_1" AS "ranked"),
  (SELECT SUM("leaf") - 1 FROM "__sqlanon_ranked_2" AS "ranked"),
  (SELECT SUM("leaf") - 1 FROM "__sqlanon_ranked_3" AS "ranked"),
  CAST(COALESCE(
    SUM("region"."rows" * COALESCE(
      "known"."most_0" - "known"."least_0" + CASE WHEN "known"."with_null_0" THEN 1 ELSE 0 END, 0
    )),
    0
  ) AS INT128),
  CAST(COALESCE(
    SUM("region"."rows" * COALESCE(
      "known"."most_1" - "known"."least_1" + CASE WHEN "known"."with_null_1" THEN 1 ELSE 0 END, 0
    )),
    0
  ) AS INT128),
  CAST(COALESCE(
    SUM("region"."rows" * COALESCE(
      "known"."most_2" - "known"."least_2" + CASE WHEN "known"."with_null_2" THEN 1 ELSE 0 END, 0
    )),
    0
  ) AS INT128)
FROM "__sqlanon_regions_1" AS "region"
JOIN ({known("__sqlanon_points_1")}) AS "known" ON "region"."region" = "known"."region";
