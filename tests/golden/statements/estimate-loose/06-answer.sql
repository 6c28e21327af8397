-- Look for: where nothing is known, the upper bound is the number of rows withheld.

CREATE TEMPORARY TABLE "__sqlanon_answer_1" AS
SELECT
  "value_1" AS "value_1", "value_1_spread" AS "value_1_spread", "value_1_low" AS "value_1_low",
  "value_1_high" AS "value_1_high"
FROM ({figures(5)}) AS "figures";
