-- Look for: the long form (value, level, label) goes to the catalog from the temporary table; the name is a literal of
-- the statement's own.

INSERT INTO "anon"."hierarchy_value" ("hierarchy", "value", "level", "label")
SELECT 'tree' AS "hierarchy", "value", "level", "label"
FROM "__sqlanon_values_1";
