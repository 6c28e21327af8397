SELECT * FROM "class_of_set_1" WHERE ("class_id" = ANY (SELECT "class_id" FROM {#1}))
