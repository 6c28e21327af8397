-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_code_4" AS
SELECT
  "value",
  (
    "rank_0" << 10
  ) AS "key_0"
FROM "__sqlanon_values_1";
