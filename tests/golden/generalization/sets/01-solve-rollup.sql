-- Look for: the class of each set as a mask of class_id in class_of_set_0 and class_of_set_1, which keeps the node's index; the relations of a
-- set grouped from those of all quasi-identifiers; in "of_set" the excess of each set by itself, of which the
-- greatest counts, beside the rows of all classes that lie in a violating one.

WITH "node_row" AS ({node_row-2}), "class_sensitive_value_0" AS (
  SELECT ("tag" << 14) + ("key_0" & 1023) AS "class_id", (("key_0" & 15360) >> 10) AS "value", "n" AS "n"
  FROM "node_row" AS "node_row"
), "equivalence_class" AS ({part_class_0("class_sensitive_value_0", "class_sensitive_value")}), "class_of_set_0" AS (
  SELECT "class_id", "size", "entities", "class_id" & 1033183 AS "set_class"
  FROM "equivalence_class"
), "class_of_set_1" AS (
  SELECT "class_id", "size", "entities", "class_id" & 1033184 AS "set_class"
  FROM "equivalence_class"
), "equivalence_class_on_0" AS ({equivalence_class_on_0-2("class_of_set_0")}), "class_sensitive_value_0_on_1" AS (
  {class_sensitive_value_0_on_1-2("class_sensitive_value_0", "class_of_set_1")}
), "sensitive_value_0" AS (SELECT * FROM "__sqlanon_sensitive_value_0_1")
SELECT
  COALESCE("all_classes"."index", "broken"."index"), COALESCE("all_classes"."classes", 0),
  COALESCE("all_classes"."squares", 0), COALESCE("broken"."size", 0), COALESCE("broken"."excess", 0),
  COALESCE("node_rows"."rows", 0), COALESCE("broken"."violating", 0)
FROM ({all_classes(14)}) AS "all_classes"
FULL JOIN (
  SELECT "index", MAX("size") AS "size", MAX("excess") AS "excess", MAX("violating") AS "violating"
  FROM (
    SELECT
      "class_id" >> 14 AS "index", CAST(0 AS BIGINT) AS "size", SUM("excess") AS "excess",
      CAST(0 AS BIGINT) AS "violating"
    FROM ({violation-2("equivalence_class_on_0", 3)}) AS "violation"
    GROUP BY "class_id" >> 14
    UNION ALL
    SELECT
      "class_id" >> 14 AS "index", CAST(0 AS BIGINT) AS "size", SUM("excess") AS "excess",
      CAST(0 AS BIGINT) AS "violating"
    FROM ({violation-4("class_sensitive_value_0_on_1", 3)}) AS "violation"
    GROUP BY "class_id" >> 14
    UNION ALL
    SELECT "index", "size", CAST(0.0 AS DOUBLE) AS "excess", "violating"
    FROM (
      SELECT "class_id" >> 14 AS "index", SUM("size") AS "size", SUM("excess") AS "excess", COUNT(*) AS "violating"
      FROM ({violation-5}) AS "violation"
      GROUP BY "class_id" >> 14
    ) AS "rows"
  ) AS "of_set"
  GROUP BY "index"
) AS "broken" ON "all_classes"."index" = "broken"."index"
LEFT JOIN ({node_rows}) AS "node_rows" ON "node_rows"."tag" = COALESCE("all_classes"."index", "broken"."index");

WITH "node_row" AS ({node_row("__sqlanon_rollup_1")}), "class_sensitive_value_0" AS (
  SELECT ("tag" << 14) + ("key_0" & 1023) AS "class_id", (("key_0" & 15360) >> 10) AS "value", "n" AS "n"
  FROM "node_row" AS "node_row"
), "equivalence_class" AS ({part_class_0("class_sensitive_value_0", "class_sensitive_value")}), "class_of_set_0" AS (
  SELECT "class_id", "size", "entities", "class_id" & 1033183 AS "set_class"
  FROM "equivalence_class"
), "class_of_set_1" AS (
  SELECT "class_id", "size", "entities", "class_id" & 1033184 AS "set_class"
  FROM "equivalence_class"
), "equivalence_class_on_0" AS ({equivalence_class_on_0-2("class_of_set_0")}), "class_sensitive_value_0_on_1" AS (
  {class_sensitive_value_0_on_1-2("class_sensitive_value_0", "class_of_set_1")}
), "sensitive_value_0" AS (SELECT * FROM "__sqlanon_sensitive_value_0_1"), "withheld" AS (
  SELECT "class_id" >> 14 AS "index", "class_id", "size"
  FROM ({violation-5}) AS "violation"
)
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

WITH RECURSIVE "node_row" AS ({node_row("__sqlanon_rollup_1")}), "class_sensitive_value_0" AS (
  SELECT ("tag" << 14) + ("key_0" & 1023) AS "class_id", (("key_0" & 15360) >> 10) AS "value", "n" AS "n"
  FROM "node_row" AS "node_row"
), "equivalence_class" AS ({part_class_0("class_sensitive_value_0", "class_sensitive_value")}), "class_of_set_0" AS (
  SELECT "class_id", "size", "entities", "class_id" & 1033183 AS "set_class"
  FROM "equivalence_class"
), "class_of_set_1" AS (
  SELECT "class_id", "size", "entities", "class_id" & 1033184 AS "set_class"
  FROM "equivalence_class"
), "equivalence_class_on_0" AS ({equivalence_class_on_0-2("class_of_set_0")}), "class_sensitive_value_0_on_1" AS (
  {class_sensitive_value_0_on_1-2("class_sensitive_value_0", "class_of_set_1")}
), "sensitive_value_0" AS (SELECT * FROM "__sqlanon_sensitive_value_0_1"), "rounds" AS (
  SELECT *
  FROM ({first}) AS "first"
  UNION ALL
  (
    WITH "round_class_of_set_0" AS ({round_class_of_set_0("rounds")}), "round_class_sensitive_value_0" AS (
      {round_class_sensitive_value_0("rounds")}
    ), "round_class_of_set_1" AS ({round_class_of_set_1("rounds")}), "round_equivalence_class_on_0" AS (
      {equivalence_class_on_0-2("round_class_of_set_0")}
    ), "round_class_sensitive_value_0_on_1" AS (
      {class_sensitive_value_0_on_1-2("round_class_sensitive_value_0", "round_class_of_set_1")}
    ), "round_violating" AS (
      SELECT "class_id"
      FROM (
        SELECT "class_id", MAX("size") AS "size", MAX("excess") AS "excess"
        FROM (
          ({class_of_set("round_class_of_set_0", "round_equivalence_class_on_0")})
          UNION ALL
          ({class_of_set-2("round_class_of_set_1", "round_class_sensitive_value_0_on_1")})
        ) AS "violation"
        GROUP BY "class_id"
      ) AS "violations"
    )
    SELECT "round" + 1 AS "round", "class_id"
    FROM "rounds"
    WHERE
      ("class_id" IS NULL OR NOT "class_id" IN (SELECT "class_id" FROM "round_violating"))
      AND EXISTS(SELECT 1 FROM "round_violating") AND "round" < 8
  )
), "remaining" AS ({remaining}), "remaining_class_of_set_0" AS (
  {round_class_of_set_0("remaining")}
), "remaining_class_sensitive_value_0" AS (
  {round_class_sensitive_value_0("remaining")}
), "remaining_class_of_set_1" AS ({round_class_of_set_1("remaining")}), "remaining_equivalence_class_on_0" AS (
  {equivalence_class_on_0-2("remaining_class_of_set_0")}
), "remaining_class_sensitive_value_0_on_1" AS (
  {class_sensitive_value_0_on_1-2("remaining_class_sensitive_value_0", "remaining_class_of_set_1")}
), "violating" AS (
  SELECT "class_id"
  FROM (
    SELECT "class_id", MAX("size") AS "size", MAX("excess") AS "excess"
    FROM (
      ({class_of_set("remaining_class_of_set_0", "remaining_equivalence_class_on_0")})
      UNION ALL
      ({class_of_set-2("remaining_class_of_set_1", "remaining_class_sensitive_value_0_on_1")})
    ) AS "violation"
    GROUP BY "class_id"
  ) AS "violations"
), "kept" AS ({kept-4}), "withheld" AS ({withheld-4})
SELECT EXISTS(SELECT 1 FROM "violating") AS "still", "lost".*
FROM (
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
  GROUP BY "node"."index"
) AS "lost";
