SELECT
  CAST(CASE WHEN COUNT(*) FILTER(WHERE "number" = 1) = 0 THEN 0 ELSE MAX("count") FILTER(WHERE "number" = 1)
  END AS DOUBLE) AS "value_1",
  CAST(CASE WHEN COUNT(*) FILTER(WHERE "number" = 1) = 0 THEN 0 ELSE MAX("count_spread") FILTER(WHERE "number" = 1)
  END AS DOUBLE) AS "value_1_spread",
  CAST(CASE WHEN COUNT(*) FILTER(WHERE "number" = 1) = 0 THEN 0 ELSE MAX("count_low") FILTER(WHERE "number" = 1)
  END AS BIGINT) AS "value_1_low",
  CAST(CASE WHEN COUNT(*) FILTER(WHERE "number" = 1) = 0 THEN {#1} ELSE MAX("count_high") FILTER(WHERE "number" = 1)
  END AS BIGINT) AS "value_1_high"
FROM "__sqlanon_estimate_1" AS "estimate"
