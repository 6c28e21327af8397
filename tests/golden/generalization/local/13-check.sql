-- Look for: no word about rounds: the classes are those of the published columns.

SELECT "place", "achieved", "violating"
FROM (
  WITH "equivalence_class" AS (
    SELECT {'sex': "sex", 'zip': "zip"} AS "class_id", COUNT(*) AS "size", COUNT(*) AS "entities"
    FROM "memory"."main"."__sqlanon_candidate_1"
    GROUP BY "sex", "zip"
  )
  SELECT *
  FROM ({report(2)}) AS "report"
) AS "reported";
