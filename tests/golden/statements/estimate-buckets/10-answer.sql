-- Look for: one row without groups, and none is left out: number 0 has no part in it.

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
      THEN 0
      ELSE MAX("count_high") FILTER(WHERE
        "number" = 1)
    END AS BIGINT) AS "value_1_high"
  FROM "__sqlanon_estimate_1"
) AS "figures";

SELECT
  COUNT(*)
FROM (
  SELECT
    "value_1" AS "count",
    "value_1_spread" AS "count_spread",
    "value_1_low" AS "count_low",
    "value_1_high" AS "count_high",
    CAST(NULL AS TEXT) AS "uniform_columns"
  FROM "__sqlanon_answer_1"
) AS "answer";

SELECT
  "value_1",
  "value_1_spread",
  CAST("value_1_low" AS TEXT),
  CAST("value_1_high" AS TEXT),
  CAST(NULL AS TEXT) AS "uniform_columns"
FROM "__sqlanon_answer_1";
