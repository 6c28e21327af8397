SELECT
  "region", "low_0" AS "least_0", "low_1" AS "least_1", "low_2" AS "least_2", "high_0" AS "most_0",
  "high_1" AS "most_1", "high_2" AS "most_2", FALSE AS "with_null_0", FALSE AS "with_null_1", FALSE AS "with_null_2"
FROM {#1} AS "regions"
