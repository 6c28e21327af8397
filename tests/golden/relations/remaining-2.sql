SELECT "class_id"
FROM "rounds"
WHERE (("round" = (SELECT "system"."main".max("round") FROM "rounds")) AND (NOT ("class_id" IS NULL)))
