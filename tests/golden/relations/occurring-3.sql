SELECT "item" AS "value", COUNT(*) AS "n"
FROM (SELECT DISTINCT "list_id", UNNEST("list") AS "item" FROM "__sqlanon_row_1" AS "listed") AS "occurring"
GROUP BY "item"
