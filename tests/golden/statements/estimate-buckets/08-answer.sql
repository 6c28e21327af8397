-- Look for: one row without groups, and none is left out: number 0 has no part in it.

CREATE TEMPORARY TABLE "__sqlanon_answer_1" AS
SELECT
  "value_1" AS "value_1", "value_1_spread" AS "value_1_spread", "value_1_low" AS "value_1_low",
  "value_1_high" AS "value_1_high"
FROM ({figures(0)}) AS "figures";

SELECT COUNT(*)
FROM (
  SELECT
    "value_1" AS "count", "value_1_spread" AS "count_spread", "value_1_low" AS "count_low",
    "value_1_high" AS "count_high", CAST(NULL AS TEXT) AS "uniform_columns"
  FROM "__sqlanon_answer_1" AS "answer"
) AS "answer";

SELECT
  "value_1", "value_1_spread", CAST("value_1_low" AS TEXT), CAST("value_1_high" AS TEXT),
  CAST(NULL AS TEXT) AS "uniform_columns"
FROM "__sqlanon_answer_1" AS "answer";
