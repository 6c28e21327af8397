SELECT * FROM "equivalence_class" WHERE "class_id" IN (SELECT "class_id" FROM {#1})
