SELECT "class_id" FROM "remaining" WHERE (NOT EXISTS(SELECT 1 FROM "violating"))
