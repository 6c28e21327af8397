-- Look for: the candidate's lists alone are read. numbered_list is MATERIALIZED: lists are numbered in no order, and both of their columns are read.
-- The set of no item counts: counted-8 has no column of codes.

SELECT "place", "achieved", "violating"
FROM (
  WITH "equivalence_class" AS ({equivalence_class-4}), "numbered_list_0" AS MATERIALIZED (
    SELECT 0 AS "class_id", ROW_NUMBER() OVER () AS "list_id", "codes" AS "list", "diagnoses" AS "sensitive"
    FROM "memory"."main"."__sqlanon_candidate_1"
  ), "list_class_0" AS (
    SELECT "class_id", ROW_NUMBER() OVER (ORDER BY "class_id" ASC NULLS LAST) AS "class"
    FROM (SELECT DISTINCT "class_id" FROM "numbered_list_0" AS "lists") AS "occurring"
  ), "list_item_0" AS (
    SELECT "class_id", "list_id", UNNEST("list") AS "item"
    FROM "numbered_list_0" AS "lists"
  ), "item_code_0" AS (
    SELECT "item", ROW_NUMBER() OVER () AS "code"
    FROM (SELECT DISTINCT "item" FROM "list_item_0" AS "items") AS "occurring"
  ), "coded_item_0" AS MATERIALIZED ({held("list_item_0", "item_code_0")}), "list_value_0" AS (
    SELECT "class_id", "list_id", UNNEST("sensitive") AS "item"
    FROM "numbered_list_0" AS "lists"
  ), "item_value_0" AS (
    SELECT "item", ROW_NUMBER() OVER () AS "code"
    FROM (SELECT DISTINCT "item" FROM "list_value_0" AS "items") AS "occurring"
  ), "coded_sensitive_0" AS MATERIALIZED (
    SELECT "class", "list_id", "code" AS "value"
    FROM ({held("list_value_0", "item_value_0")}) AS "held"
    UNION ALL
    SELECT "of_class"."class", "listed"."list_id", 0 AS "value"
    FROM "numbered_list_0" AS "listed"
    JOIN "list_class_0" AS "of_class" ON "listed"."class_id" IS NOT DISTINCT FROM "of_class"."class_id"
  ), "class_itemset_value_0" AS (
    SELECT "of_class"."class_id", "size"."items", "size"."n", "size"."most", "size"."sets"
    FROM (
      SELECT "class", 0 AS "items", "n", "most", COUNT(*) AS "sets"
      FROM ({counted-8("coded_sensitive_0")}) AS "counted"
      GROUP BY "class", "n", "most"
      UNION ALL
      SELECT "class", 1 AS "items", "n", "most", COUNT(*) AS "sets"
      FROM ({counted-7("coded_item_0", "coded_sensitive_0")}) AS "counted"
      GROUP BY "class", "n", "most"
      UNION ALL
      SELECT "class", 2 AS "items", "n", "most", COUNT(*) AS "sets"
      FROM ({counted-6("coded_item_0", "coded_sensitive_0")}) AS "counted"
      GROUP BY "class", "n", "most"
    ) AS "size"
    JOIN "list_class_0" AS "of_class" ON "size"."class" = "of_class"."class"
  )
  SELECT *
  FROM (
    SELECT
      0 AS "place",
      CAST((
        SELECT MAX(CAST("most" AS DOUBLE) / NULLIF(CAST("n" AS DOUBLE), 0)) AS "achieved"
        FROM "class_itemset_value_0" AS "class_itemset_value"
        WHERE "items" <= 2
      ) AS DOUBLE) AS "achieved",
      (
        SELECT COUNT(*)
        FROM (
          SELECT "equivalence_class"."class_id", "equivalence_class"."size", CAST(0 AS DOUBLE) AS "excess"
          FROM "equivalence_class"
          INNER JOIN ({violating-7("class_itemset_value_0")}) AS "violating"
            ON "violating"."class_id" = "equivalence_class"."class_id"
        ) AS "violations"
      ) AS "violating"
  ) AS "report"
) AS "reported";
