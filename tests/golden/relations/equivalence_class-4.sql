SELECT 0 AS "class_id", COUNT(*) AS "size", COUNT(*) AS "entities"
FROM "memory"."main"."__sqlanon_candidate_1"
HAVING COUNT(*) > 0
