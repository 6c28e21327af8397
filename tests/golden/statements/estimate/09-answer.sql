-- Look for: a group is shown if a row may be in it; the bounds of count(*) are whole numbers; where nothing is known
-- of it, high is the one row that the release withheld.

CREATE TEMPORARY TABLE "__sqlanon_answer_1" AS
SELECT
  "group_0", "value_1" AS "value_1", "value_1_spread" AS "value_1_spread", "value_1_low" AS "value_1_low",
  "value_1_high" AS "value_1_high"
FROM (
  SELECT
    struct_extract("key", 'group_0') AS "group_0",
    CAST(CASE WHEN COUNT(*) FILTER(WHERE "number" = 1) = 0 THEN 0 ELSE MAX("count") FILTER(WHERE "number" = 1)
    END AS DOUBLE) AS "value_1",
    CAST(CASE WHEN COUNT(*) FILTER(WHERE "number" = 1) = 0 THEN 0 ELSE MAX("count_spread") FILTER(WHERE "number" = 1)
    END AS DOUBLE) AS "value_1_spread",
    CAST(CASE WHEN COUNT(*) FILTER(WHERE "number" = 1) = 0 THEN 0 ELSE MAX("count_low") FILTER(WHERE "number" = 1)
    END AS BIGINT) AS "value_1_low",
    CAST(CASE WHEN COUNT(*) FILTER(WHERE "number" = 1) = 0 THEN 1 ELSE MAX("count_high") FILTER(WHERE "number" = 1)
    END AS BIGINT) AS "value_1_high"
  FROM "__sqlanon_estimate_1" AS "estimate"
  GROUP BY "key"
  HAVING BOOL_OR(CAST("number" = 0 AND "possible" AS BOOLEAN))
) AS "figures";

SELECT
  CAST("group_0" AS TEXT), "value_1", "value_1_spread", CAST("value_1_low" AS TEXT), CAST("value_1_high" AS TEXT),
  CAST('dob' AS TEXT) AS "uniform_columns"
FROM "__sqlanon_answer_1" AS "answer"
ORDER BY "group_0" ASC NULLS LAST;
