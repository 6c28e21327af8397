SELECT "class_id", "asked_0" AS "value_0", "system"."main".count_star() AS "n"
FROM "recoded"
GROUP BY "class_id", "asked_0"
