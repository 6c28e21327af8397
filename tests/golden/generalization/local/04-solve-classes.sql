-- Look for: the classes of a round's best node that satisfy, which are published at its levels; the best node's tag is
-- a literal, another one for each round.

CREATE TEMPORARY TABLE "__sqlanon_classes_1" AS
WITH "node_row" AS ({node_row-3(11)}), "equivalence_class" AS (
  SELECT ("tag" << 5) + "key_0" AS "class_id", "n" AS "size", "n" AS "entities"
  FROM "node_row"
), "withheld" AS ({withheld(5, 2)})
SELECT "class_id" AS "key_0"
FROM "equivalence_class"
WHERE NOT "class_id" IN (SELECT "class_id" FROM "withheld");

CREATE TEMPORARY TABLE "__sqlanon_classes_2" AS
WITH "node_row" AS (
  SELECT "tag" - 2 AS "tag", * EXCLUDE ("tag")
  FROM "__sqlanon_rollup_2" AS "rollup"
  WHERE "tag" BETWEEN 2 AND 2
), "equivalence_class" AS (
  SELECT ("tag" << 5) + "key_0" AS "class_id", "n" AS "size", "n" AS "entities"
  FROM "node_row"
), "withheld" AS ({withheld(5, 2)})
SELECT "class_id" AS "key_0"
FROM "equivalence_class"
WHERE NOT "class_id" IN (SELECT "class_id" FROM "withheld");
