WITH "equivalence_class" AS (
  SELECT "class_id", COUNT(*) AS "size", COUNT(*) AS "entities"
  FROM (
    SELECT "bucket" AS "class_id", "disease" AS "value"
    FROM "memory"."main"."__sqlanon_candidate_2"
  ) AS "bucket_row"
  GROUP BY "class_id"
)
SELECT *
FROM ({report({#1})}) AS "report"
