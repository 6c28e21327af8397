SELECT
  "region", "low_0" AS "least_0", "low_1" AS "least_1", "high_0" AS "most_0", "high_1" AS "most_1",
  FALSE AS "with_null_0", FALSE AS "with_null_1"
FROM "__sqlanon_regions_done_2" AS "regions"
