SELECT "class_id" FROM "rounds" WHERE "round" = (SELECT MAX("round") FROM "rounds") AND NOT "class_id" IS NULL
