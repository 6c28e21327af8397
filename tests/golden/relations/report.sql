SELECT
  0 AS "place", CAST((SELECT MIN("entities") AS "achieved" FROM "equivalence_class") AS DOUBLE) AS "achieved",
  ({violating-3({#1})}) AS "violating"
