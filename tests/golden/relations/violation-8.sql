SELECT "class_id", MAX("size") AS "size", MAX("excess") AS "excess"
FROM (({violation({#1})}) UNION ALL ({violation-10({#2})})) AS "violation"
GROUP BY "class_id"
