-- The confidence of an adversary who counts, for each respondent: respondent, number (of values left), confidence.
--
-- If all worlds were counted, their confidence is used. Otherwise the confidence is the greatest of those by candidates
-- and by sets: a set alone may give a greater confidence than the sets into which others divide it. A respondent
-- without a candidate has no row.
SELECT c.respondent, CASE WHEN t.confidence = 1 THEN 1 ELSE c.number END AS number, t.confidence
FROM by_candidates AS c
JOIN (
  SELECT c.respondent, coalesce(max(w.confidence), greatest(max(c.confidence), max(s.confidence))) AS confidence
  FROM by_candidates AS c
  LEFT JOIN by_sets AS s ON s.respondent = c.respondent
  LEFT JOIN by_worlds AS w ON w.respondent = c.respondent
  GROUP BY c.respondent
) AS t ON t.respondent = c.respondent
