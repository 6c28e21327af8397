SELECT "class_id" FROM "equivalence_class" WHERE NOT "class_id" IN ({equivalence_class({#1})})
