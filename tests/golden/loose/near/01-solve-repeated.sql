-- Look for: the row also carries the columns by which rows are to be near (near_0 to near_2); its tuples are numbered
-- as before.

CREATE TEMPORARY TABLE "__sqlanon_repeated_1" AS
SELECT "digest", ROW_NUMBER() OVER () AS "number"
FROM (SELECT hash("value_3") AS "digest" FROM ({rows-2}) AS "counted_row" GROUP BY 1 HAVING COUNT(*) > 1) AS "counted";

CREATE TEMPORARY TABLE "__sqlanon_repeated_2" AS
SELECT "digest", ROW_NUMBER() OVER () AS "number"
FROM (
  SELECT hash("value_0", "value_1", "value_2") AS "digest"
  FROM ({rows-2}) AS "counted_row"
  GROUP BY 1
  HAVING COUNT(*) > 1
) AS "counted";
