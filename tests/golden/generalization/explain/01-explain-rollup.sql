-- Look for: for each requirement and node the classes and rows that violate it, and the smallest class: size comes
-- first in the struct, so that MIN finds it; the nodes are rolled up anew from the same cells, by the text of the
-- search.

WITH "node_row" AS ({node_row("__sqlanon_rollup_2")}), "equivalence_class" AS (
  SELECT ("tag" << 10) + "key_0" AS "class_id", "n" AS "size", "n" AS "entities"
  FROM "node_row"
)
SELECT
  "requirement", "index", "rows", "classes", "excess", "smallest"."entities", "smallest"."size", "smallest"."class_id"
FROM (
  SELECT
    0 AS "requirement", "class_id" >> 10 AS "index", CAST(COALESCE(SUM("size"), 0) AS INT128) AS "rows",
    COUNT(*) AS "classes", SUM("excess") AS "excess",
    MIN({'entities': CAST(0 AS BIGINT), 'size': "size", 'class_id': "class_id"}) AS "smallest"
  FROM ({violation(4)}) AS "violation"
  GROUP BY "class_id" >> 10
) AS "violated";
