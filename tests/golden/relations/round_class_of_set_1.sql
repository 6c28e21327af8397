SELECT * FROM "class_of_set_1" WHERE "class_id" IN (SELECT "class_id" FROM {#1})
