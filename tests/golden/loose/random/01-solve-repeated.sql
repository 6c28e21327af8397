-- Look for: a number for each tuple that occurs more than once in a fragment, by its hash; a tuple that occurs once
-- needs none.

CREATE TEMPORARY TABLE "__sqlanon_repeated_1" AS
SELECT "digest", ROW_NUMBER() OVER () AS "number"
FROM (SELECT hash("value_3") AS "digest" FROM ({row}) AS "counted_row" GROUP BY 1 HAVING COUNT(*) > 1) AS "counted";

CREATE TEMPORARY TABLE "__sqlanon_repeated_2" AS
SELECT "digest", ROW_NUMBER() OVER () AS "number"
FROM (
  SELECT hash("value_0", "value_1", "value_2") AS "digest"
  FROM ({row}) AS "counted_row"
  GROUP BY 1
  HAVING COUNT(*) > 1
) AS "counted";
