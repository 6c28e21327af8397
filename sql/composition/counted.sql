-- How sure somebody is who counts: the greatest confidence by candidates, by sets and by worlds. A respondent without a candidate is none.
SELECT c.respondent, CASE WHEN max(t.confidence) = 1 THEN 1 ELSE c.number END AS number, greatest(c.confidence, max(t.confidence)) AS confidence
FROM by_candidates AS c
LEFT JOIN (
  SELECT respondent, confidence FROM by_sets
  UNION ALL
  SELECT respondent, confidence FROM by_worlds
) AS t ON t.respondent = c.respondent
GROUP BY c.respondent, c.number, c.confidence
