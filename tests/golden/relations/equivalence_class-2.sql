SELECT "class_id", "system"."main".count_star() AS "size", "system"."main".count_star() AS "entities"
FROM "recoded"
GROUP BY "class_id"
