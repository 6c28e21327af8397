SELECT "class_id", MAX("size") AS "size", MAX("excess") AS "excess"
FROM (({violation(2)}) UNION ALL ({violations(0.5, '2', '1')})) AS "violation"
GROUP BY "class_id"
