SELECT * FROM "class_of_set_0" WHERE ("class_id" = ANY (SELECT "class_id" FROM {#1}))
