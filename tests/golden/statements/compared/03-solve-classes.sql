-- Look for: the first round of local recoding keeps the classes that satisfy; no second search for the global node.

CREATE TEMPORARY TABLE "__sqlanon_classes_1" AS
WITH "node_row" AS ({node_row-3(26)}), "equivalence_class" AS (
  SELECT ("tag" << 10) + "key_0" AS "class_id", "n" AS "size", "n" AS "entities"
  FROM "node_row"
), "withheld" AS ({withheld(10, 7)})
SELECT "class_id" AS "key_0"
FROM "equivalence_class"
WHERE NOT "class_id" IN (SELECT "class_id" FROM "withheld");
