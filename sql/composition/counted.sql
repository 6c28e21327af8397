-- How sure somebody is who counts. Who counts all worlds knows best. Elsewhere it is the greatest confidence by candidates and by sets: a set
-- that others divide may seem to tell more than they do. A respondent without a candidate is none.
SELECT c.respondent, CASE WHEN t.confidence = 1 THEN 1 ELSE c.number END AS number, t.confidence
FROM by_candidates AS c
JOIN (
  SELECT c.respondent, coalesce(max(w.confidence), greatest(max(c.confidence), max(s.confidence))) AS confidence
  FROM by_candidates AS c
  LEFT JOIN by_sets AS s ON s.respondent = c.respondent
  LEFT JOIN by_worlds AS w ON w.respondent = c.respondent
  GROUP BY c.respondent
) AS t ON t.respondent = c.respondent
