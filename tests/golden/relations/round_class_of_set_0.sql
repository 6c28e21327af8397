SELECT * FROM "class_of_set_0" WHERE "class_id" IN (SELECT "class_id" FROM {#1})
