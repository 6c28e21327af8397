-- Look for: where nothing is known, the upper bound is the number of rows withheld.

CREATE TEMPORARY TABLE "__sqlanon_answer_1" AS
SELECT
  "value_1" AS "value_1",
  "value_1_spread" AS "value_1_spread",
  "value_1_low" AS "value_1_low",
  "value_1_high" AS "value_1_high"
FROM (
  SELECT
    CAST(CASE
      WHEN COUNT(*) FILTER(WHERE
        "number" = 1) = 0
      THEN 0
      ELSE MAX("count") FILTER(WHERE
        "number" = 1)
    END AS DOUBLE) AS "value_1",
    CAST(CASE
      WHEN COUNT(*) FILTER(WHERE
        "number" = 1) = 0
      THEN 0
      ELSE MAX("count_spread") FILTER(WHERE
        "number" = 1)
    END AS DOUBLE) AS "value_1_spread",
    CAST(CASE
      WHEN COUNT(*) FILTER(WHERE
        "number" = 1) = 0
      THEN 0
      ELSE MAX("count_low") FILTER(WHERE
        "number" = 1)
    END AS BIGINT) AS "value_1_low",
    CAST(CASE
      WHEN COUNT(*) FILTER(WHERE
        "number" = 1) = 0
      THEN 5
      ELSE MAX("count_high") FILTER(WHERE
        "number" = 1)
    END AS BIGINT) AS "value_1_high"
  FROM "__sqlanon_estimate_1"
) AS "figures";
