SELECT "class_id", MAX("size") AS "size", MAX("excess") AS "excess"
FROM (({violation(3)}) UNION ALL ({violations(0.4, '5', '2')}) UNION ALL ({violation-10('3')})) AS "violation"
GROUP BY "class_id"
