-- Look for: one token for each text, by a function whose key is in no SQL.

CREATE TEMPORARY TABLE "__sqlanon_known_1" AS
SELECT
  "value",
  udf("value") AS "token"
FROM (
  SELECT DISTINCT
    "value"
  FROM (
    SELECT
      "respondent" AS "value"
    FROM "__sqlanon_respondent_1"
  ) AS "source_value"
) AS "distinct_value";
