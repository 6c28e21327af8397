SELECT * FROM "class_sensitive_value_0" WHERE ("class_id" = ANY (SELECT "class_id" FROM {#1}))
