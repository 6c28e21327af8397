SELECT "class_id" >> {#1} AS "index", SUM("size") AS "size", SUM("excess") AS "excess", COUNT(*) AS "violating"
FROM ({violation({#2})}) AS "violation"
GROUP BY "class_id" >> {#1}
