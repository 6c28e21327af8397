-- Look for: one sort by value and draw; the dealing reads the order from the rowid.

CREATE TEMPORARY TABLE "__sqlanon_sorted_rows_1" AS
SELECT "row", "draw", "position", "key_0"
FROM (
  SELECT *, 0 AS "chunk", CASE WHEN "key_0" > 0 THEN "key_0" ELSE 0 END AS "value"
  FROM "__sqlanon_keyed_1" AS "rows"
) AS "part"
ORDER BY "value" ASC NULLS LAST, "draw" ASC NULLS LAST;
