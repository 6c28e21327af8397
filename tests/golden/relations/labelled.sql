SELECT
  "region"."region",
  CASE
    WHEN "least_of_0"."rank_0" = "most_of_0"."rank_0" THEN CAST("least_of_0"."value" AS TEXT)
    ELSE '[' || CAST("least_of_0"."value" AS TEXT) || ', ' || CAST("most_of_0"."value" AS TEXT) || ']'
  END AS "label_0",
  "least_of_0"."value" AS "low_value_0", "most_of_0"."value" AS "high_value_0", "known"."with_null_0",
  "known"."least_0" AS "low_0", "known"."most_0" AS "high_0",
  CASE
    WHEN "least_of_1"."rank_0" = "most_of_1"."rank_0" THEN CAST("least_of_1"."value" AS TEXT)
    ELSE '[' || CAST("least_of_1"."value" AS TEXT) || ', ' || CAST("most_of_1"."value" AS TEXT) || ']'
  END AS "label_1",
  "least_of_1"."value" AS "low_value_1", "most_of_1"."value" AS "high_value_1", "known"."with_null_1",
  "known"."least_1" AS "low_1", "known"."most_1" AS "high_1",
  CASE
    WHEN "least_of_2"."rank_0" = "most_of_2"."rank_0" THEN CAST("least_of_2"."value" AS TEXT)
    ELSE '[' || CAST("least_of_2"."value" AS TEXT) || ', ' || CAST("most_of_2"."value" AS TEXT) || ']'
  END AS "label_2",
  "least_of_2"."value" AS "low_value_2", "most_of_2"."value" AS "high_value_2", "known"."with_null_2",
  "known"."least_2" AS "low_2", "known"."most_2" AS "high_2"
FROM {#1} AS "region"
JOIN ({known({#1})}) AS "known" ON "region"."region" = "known"."region"
LEFT JOIN "__sqlanon_ranked_1" AS "least_of_0" ON "least_of_0"."rank_0" = "known"."least_0"
LEFT JOIN "__sqlanon_ranked_1" AS "most_of_0" ON "most_of_0"."rank_0" = "known"."most_0"
LEFT JOIN "__sqlanon_ranked_2" AS "least_of_1" ON "least_of_1"."rank_0" = "known"."least_1"
LEFT JOIN "__sqlanon_ranked_2" AS "most_of_1" ON "most_of_1"."rank_0" = "known"."most_1"
LEFT JOIN "__sqlanon_ranked_3" AS "least_of_2" ON "least_of_2"."rank_0" = "known"."least_2"
LEFT JOIN "__sqlanon_ranked_3" AS "most_of_2" ON "most_of_2"."rank_0" = "known"."most_2"
