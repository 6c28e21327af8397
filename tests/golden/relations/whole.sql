SELECT "number", COUNT(*) AS "leaves", COUNT("weight") AS "known", SUM("weight") AS "total"
FROM {#1} AS "leaf"
GROUP BY "number"
