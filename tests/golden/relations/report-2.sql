SELECT
  0 AS "place", CAST((SELECT MIN("entities") AS "achieved" FROM "equivalence_class") AS DOUBLE) AS "achieved",
  ({violating-3({#1})}) AS "violating"
UNION ALL
SELECT 1 AS "place", CAST(({equivalence_class-8}) AS DOUBLE) AS "achieved", ({violating-5({#2})}) AS "violating"
