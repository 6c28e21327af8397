WITH "equivalence_class" AS (
  SELECT {'dob': "dob", 'sex': "sex", 'zip': "zip"} AS "class_id", COUNT(*) AS "size", COUNT(*) AS "entities"
  FROM "memory"."main"."__sqlanon_candidate_1"
  GROUP BY "dob", "sex", "zip"
)
SELECT *
FROM ({report({#1})}) AS "report"
