-- Look for: a range is of the values of its region; ` or NULL` where one of them is NULL.

CREATE TEMPORARY TABLE "__sqlanon_labels_1" AS
SELECT *, MIN("region") OVER (PARTITION BY "label_0", "label_1") AS "class"
FROM (
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
    "known"."least_1" AS "low_1", "known"."most_1" AS "high_1"
  FROM "__sqlanon_regions_done_2" AS "region"
  JOIN ({known-2}) AS "known" ON "region"."region" = "known"."region"
  LEFT JOIN "__sqlanon_ranked_1" AS "least_of_0" ON "least_of_0"."rank_0" = "known"."least_0"
  LEFT JOIN "__sqlanon_ranked_1" AS "most_of_0" ON "most_of_0"."rank_0" = "known"."most_0"
  LEFT JOIN "__sqlanon_ranked_3" AS "least_of_1" ON "least_of_1"."rank_0" = "known"."least_1"
  LEFT JOIN "__sqlanon_ranked_3" AS "most_of_1" ON "most_of_1"."rank_0" = "known"."most_1"
) AS "labelled";

CREATE TEMPORARY TABLE "__sqlanon_labels_2" AS
SELECT *, MIN("region") OVER (PARTITION BY "label_0") AS "class"
FROM (
  SELECT
    "region"."region",
    CASE
      WHEN "least_of_0"."rank_0" = "most_of_0"."rank_0" THEN CAST("least_of_0"."value" AS TEXT)
      ELSE '[' || CAST("least_of_0"."value" AS TEXT) || ', ' || CAST("most_of_0"."value" AS TEXT) || ']'
    END AS "label_0",
    "least_of_0"."value" AS "low_value_0", "most_of_0"."value" AS "high_value_0", "known"."with_null_0",
    "known"."least_0" AS "low_0", "known"."most_0" AS "high_0"
  FROM "__sqlanon_regions_done_3" AS "region"
  JOIN (
    SELECT "region", "low_0" AS "least_0", "high_0" AS "most_0", FALSE AS "with_null_0"
    FROM "__sqlanon_regions_done_3" AS "regions"
  ) AS "known" ON "region"."region" = "known"."region"
  LEFT JOIN "__sqlanon_ranked_2" AS "least_of_0" ON "least_of_0"."rank_0" = "known"."least_0"
  LEFT JOIN "__sqlanon_ranked_2" AS "most_of_0" ON "most_of_0"."rank_0" = "known"."most_0"
) AS "labelled";
