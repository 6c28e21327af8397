SELECT "query", "number", "number" - ROW_NUMBER() OVER (PARTITION BY "query" ORDER BY "number" ASC NULLS LAST) AS "run"
FROM (
  SELECT "bounds"."query", "leaf"."number", "leaf"."weight"
  FROM (SELECT "number", "value", 1 AS "weight" FROM {#1} AS "label") AS "leaf"
  JOIN ({bounds-2("__sqlanon_among_2", {#2})}) AS "bounds" ON CAST("leaf"."value" AS TEXT) = "bounds"."low"
) AS "satisfied"
