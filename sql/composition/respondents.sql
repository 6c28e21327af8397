-- The adversary's confidence in the value of each respondent: respondent, people, confidence, changed, contradicted.
--
-- changed is 1 if the respondent's row must have changed, because the respondent's classes have no row in common.
-- contradicted is 1 if a row must have changed among the people with whom the respondent shares classes.
SELECT m.respondent, m.people, greatest(i.confidence, c.confidence) AS confidence,
  CASE WHEN i.confidence IS NULL THEN 1 ELSE 0 END AS changed,
  CASE WHEN i.confidence IS NOT NULL AND (c.confidence IS NULL OR x.respondent IS NOT NULL) THEN 1 ELSE 0 END AS contradicted
FROM (SELECT DISTINCT respondent, people FROM member) AS m
LEFT JOIN intersected AS i ON i.respondent = m.respondent
LEFT JOIN counted AS c ON c.respondent = m.respondent
LEFT JOIN contradiction AS x ON x.respondent = m.respondent
