SELECT *, CASE WHEN "key_0" > 0 THEN "key_0" ELSE 0 END AS "value", 0 AS "chunk"
FROM (
  SELECT *, "rowid" - (SELECT MIN("rowid") FROM "__sqlanon_sorted_rows_1" AS "numbered") AS "number"
  FROM "__sqlanon_sorted_rows_1" AS "numbered"
) AS "sorted_rows"
