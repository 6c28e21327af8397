-- Look for: the search of generalization, which comes first, as in generalization/table.

WITH "node_row" AS ({node_row-2}), "equivalence_class" AS (
  SELECT ("tag" << 10) + "key_0" AS "class_id", "n" AS "size", "n" AS "entities"
  FROM "node_row"
)
SELECT
  COALESCE("all_classes"."index", "broken"."index"), COALESCE("all_classes"."classes", 0),
  COALESCE("all_classes"."squares", 0), COALESCE("broken"."size", 0), COALESCE("broken"."excess", 0),
  COALESCE("node_rows"."rows", 0), COALESCE("broken"."violating", 0)
FROM ({all_classes(10)}) AS "all_classes"
FULL JOIN ({broken(10, 7)}) AS "broken" ON "all_classes"."index" = "broken"."index"
LEFT JOIN ({node_rows}) AS "node_rows" ON "node_rows"."tag" = COALESCE("all_classes"."index", "broken"."index");

WITH "node_row" AS ({node_row("__sqlanon_rollup_1")}), "equivalence_class" AS (
  SELECT ("tag" << 10) + "key_0" AS "class_id", "n" AS "size", "n" AS "entities"
  FROM "node_row"
), "withheld" AS ({withheld(10, 7)})
SELECT
  "node"."index",
  CAST(COALESCE(SUM(CASE WHEN "node"."attribute" = -1 THEN "withheld"."size" END), 0) AS INT128) AS "withheld",
  CAST(COALESCE(
    SUM(CASE WHEN "node"."attribute" = 0 THEN "withheld"."size" * "leaves"."others" END), 0
  ) AS INT128) AS "sum_0",
  CAST(COALESCE(
    SUM(CASE WHEN "node"."attribute" = 1 THEN "withheld"."size" * "leaves"."others" END), 0
  ) AS INT128) AS "sum_1",
  CAST(COALESCE(
    SUM(CASE WHEN "node"."attribute" = 2 THEN "withheld"."size" * "leaves"."others" END), 0
  ) AS INT128) AS "sum_2"
FROM ({node-3}) AS "node"
LEFT JOIN "withheld" ON "withheld"."index" = "node"."index"
LEFT JOIN ({leaves}) AS "leaves"
  ON "leaves"."attribute" = "node"."attribute" AND "leaves"."level" = "node"."level"
  AND ((("withheld"."class_id") & "node"."mask_0") = "leaves"."part_0")
GROUP BY "node"."index";
