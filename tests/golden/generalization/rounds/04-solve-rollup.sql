-- Look for: class_sensitive_value_0 from the key's upper bits, and equivalence_class summed from it; both
-- requirements' own texts joined by UNION ALL, and a class that violates both counted once (MAX per class);
-- t-closeness compared exactly, in whole numbers of DECIMAL(38, 0).

CREATE TEMPORARY TABLE "__sqlanon_rollup_1" AS
WITH "first_rows" AS ({first_rows(16383)})
SELECT *
FROM "first_rows" AS "rows"
UNION ALL
SELECT "node"."tag", "fine"."key_0" & "node"."mask_0" AS "key_0", CAST(SUM("fine"."n") AS BIGINT) AS "n"
FROM "first_rows" AS "fine"
JOIN ({node-4}) AS "node" ON "fine"."tag" = "node"."source"
GROUP BY "node"."tag", "fine"."key_0" & "node"."mask_0";

WITH "node_row" AS ({node_row-2}), "class_sensitive_value_0" AS (
  SELECT ("tag" << 14) + ("key_0" & 1023) AS "class_id", (("key_0" & 15360) >> 10) AS "value", "n" AS "n"
  FROM "node_row" AS "node_row"
), "equivalence_class" AS ({part_class_0("class_sensitive_value_0", "class_sensitive_value")}), "sensitive_value_0" AS (
  SELECT *
  FROM "__sqlanon_sensitive_value_0_1"
)
SELECT
  COALESCE("all_classes"."index", "broken"."index"), COALESCE("all_classes"."classes", 0),
  COALESCE("all_classes"."squares", 0), COALESCE("broken"."size", 0), COALESCE("broken"."excess", 0),
  COALESCE("node_rows"."rows", 0), COALESCE("broken"."violating", 0)
FROM ({all_classes(14)}) AS "all_classes"
FULL JOIN (
  SELECT "class_id" >> 14 AS "index", SUM("size") AS "size", SUM("excess") AS "excess", COUNT(*) AS "violating"
  FROM ({violation-6}) AS "violation"
  GROUP BY "class_id" >> 14
) AS "broken" ON "all_classes"."index" = "broken"."index"
LEFT JOIN ({node_rows}) AS "node_rows" ON "node_rows"."tag" = COALESCE("all_classes"."index", "broken"."index");

WITH "node_row" AS ({node_row("__sqlanon_rollup_1")}), "class_sensitive_value_0" AS (
  SELECT ("tag" << 14) + ("key_0" & 1023) AS "class_id", (("key_0" & 15360) >> 10) AS "value", "n" AS "n"
  FROM "node_row" AS "node_row"
), "equivalence_class" AS ({part_class_0("class_sensitive_value_0", "class_sensitive_value")}), "sensitive_value_0" AS (
  SELECT *
  FROM "__sqlanon_sensitive_value_0_1"
), "withheld" AS (SELECT "class_id" >> 14 AS "index", "class_id", "size" FROM ({violation-6}) AS "violation")
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

INSERT INTO "__sqlanon_rollup_1"
SELECT "node"."tag", "fine"."key_0" & "node"."mask_0" AS "key_0", CAST(SUM("fine"."n") AS BIGINT) AS "n"
FROM "__sqlanon_rollup_1" AS "fine"
JOIN ({node-4}) AS "node" ON "fine"."tag" = "node"."source"
GROUP BY "node"."tag", "fine"."key_0" & "node"."mask_0";
