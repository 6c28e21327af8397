-- Look for: the candidate's lists alone are read, and no table of the search. coded_item is MATERIALIZED: lists and items are numbered in no
-- order, so it must not be computed twice. class_itemset has a row for each number of items and support, not for each set.

SELECT COUNT(*)
FROM (SELECT "codes" AS "list" FROM "memory"."main"."__sqlanon_candidate_1") AS "listed"
WHERE
  "list" IS NULL
  OR LENGTH("list") <> LENGTH(LIST_DISTINCT("list")) + CASE WHEN NOT list_position("list", NULL) IS NULL THEN 1 ELSE 0 END;

SELECT "place", "achieved", "violating"
FROM (
  WITH "equivalence_class" AS ({equivalence_class-4}), "item_list_0" AS (
    SELECT 0 AS "class_id", ROW_NUMBER() OVER () AS "list_id", "codes" AS "list"
    FROM "memory"."main"."__sqlanon_candidate_1"
  ), "list_class_0" AS (
    SELECT "class_id", ROW_NUMBER() OVER (ORDER BY "class_id" ASC NULLS LAST) AS "class"
    FROM (SELECT DISTINCT "class_id" FROM "item_list_0" AS "lists") AS "occurring"
  ), "list_item_0" AS (
    SELECT "class_id", "list_id", UNNEST("list") AS "item"
    FROM "item_list_0" AS "lists"
  ), "item_code_0" AS (
    SELECT "item", ROW_NUMBER() OVER () AS "code"
    FROM (SELECT DISTINCT "item" FROM "list_item_0" AS "items") AS "occurring"
  ), "coded_item_0" AS MATERIALIZED ({held("list_item_0", "item_code_0")}), "class_itemset_0" AS (
    SELECT "of_class"."class_id", "size"."items", "size"."n", "size"."sets"
    FROM (
      SELECT "class", 1 AS "items", "n", COUNT(*) AS "sets"
      FROM ({counted-2("coded_item_0")}) AS "counted"
      GROUP BY "class", "n"
      UNION ALL
      SELECT "class", 2 AS "items", "n", COUNT(*) AS "sets"
      FROM ({counted("coded_item_0")}) AS "counted"
      GROUP BY "class", "n"
    ) AS "size"
    JOIN "list_class_0" AS "of_class" ON "size"."class" = "of_class"."class"
  )
  SELECT *
  FROM (
    SELECT
      0 AS "place",
      CAST((
        SELECT MIN("n") AS "achieved"
        FROM (
          SELECT "size" AS "n"
          FROM "equivalence_class"
          UNION ALL
          SELECT "n"
          FROM "class_itemset_0" AS "class_itemset"
          WHERE "items" <= 2
        ) AS "support"
      ) AS DOUBLE) AS "achieved",
      (
        SELECT COUNT(*)
        FROM (
          SELECT "equivalence_class"."class_id", "equivalence_class"."size", CAST(0 AS DOUBLE) AS "excess"
          FROM "equivalence_class"
          LEFT JOIN (
            SELECT "class_id", MIN("n") AS "n"
            FROM "class_itemset_0" AS "class_itemset"
            WHERE "items" <= 2
            GROUP BY "class_id"
          ) AS "rarest" ON "rarest"."class_id" = "equivalence_class"."class_id"
          WHERE "equivalence_class"."size" < 2 OR "rarest"."n" < 2
        ) AS "violations"
      ) AS "violating"
  ) AS "report"
) AS "reported";
