-- Look for:

INSERT INTO "anon"."hierarchy_value" (
  "hierarchy",
  "value",
  "level",
  "label"
)
SELECT
  'tree' AS "hierarchy",
  "value",
  "level",
  "label"
FROM "__sqlanon_values_1";
