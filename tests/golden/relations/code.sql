SELECT "code" FROM {#1} WHERE "value" IS NULL
