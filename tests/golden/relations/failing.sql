SELECT DISTINCT "class_id" // 2 AS "region" FROM ({violation(3)}) AS "violation"
