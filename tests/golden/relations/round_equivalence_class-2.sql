SELECT * FROM "equivalence_class" WHERE ("class_id" = ANY (SELECT "class_id" FROM {#1}))
