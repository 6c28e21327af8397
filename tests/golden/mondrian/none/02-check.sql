-- Look for: a bucket is a class: exact quasi-identifiers have no part in it.

SELECT "place", "achieved", "violating"
FROM (
  WITH "equivalence_class" AS (
    SELECT {'bucket': "bucket"} AS "class_id", COUNT(*) AS "size", COUNT(*) AS "entities"
    FROM "memory"."main"."__sqlanon_candidate_1"
    GROUP BY "bucket"
  )
  SELECT *
  FROM ({report(3)}) AS "report"
) AS "reported";
