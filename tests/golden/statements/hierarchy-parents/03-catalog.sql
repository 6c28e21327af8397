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

DELETE FROM "anon"."hierarchy"
WHERE
  translate("hierarchy", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?;

INSERT INTO "anon"."hierarchy" (
  "hierarchy",
  "kind",
  "arguments",
  "options",
  "query",
  "height"
)
VALUES
  (?, ?, ?, ?, ?, ?);
