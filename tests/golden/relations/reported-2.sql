WITH "equivalence_class" AS (
  SELECT {{#1}: {#2}, 'sex': "sex", 'zip': "zip"} AS "class_id", COUNT(*) AS "size", COUNT(*) AS "entities"
  FROM "memory"."main"."__sqlanon_candidate_1"
  GROUP BY {#2}, "sex", "zip"
)
SELECT *
FROM ({report({#3})}) AS "report"
