SELECT * FROM "class_sensitive_value_0" WHERE "class_id" IN (SELECT "class_id" FROM {#1})
