SELECT
  COUNT(*) AS "n", MIN(hash("disease")) = MAX(hash("disease")) AS "same_0",
  MIN(CASE WHEN NOT "disease" IS NULL THEN hash("disease") END) = MAX(CASE WHEN NOT "disease" IS NULL THEN hash("disease") END)
  AND COUNT("disease") < COUNT(*) AS "known_0"
FROM "memory"."main"."__sqlanon_candidate_1"
GROUP BY {#1}, "sex", "zip"
