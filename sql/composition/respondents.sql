-- How sure somebody is of respondents who are alike, whether their row must have changed, because their classes have none in common, and
-- whether a row must have changed among those with whom they share classes.
SELECT m.respondent, m.people, greatest(i.confidence, c.confidence) AS confidence,
  CASE WHEN i.confidence IS NULL THEN 1 ELSE 0 END AS changed,
  CASE WHEN i.confidence IS NOT NULL AND (c.confidence IS NULL OR x.respondent IS NOT NULL) THEN 1 ELSE 0 END AS contradicted
FROM (SELECT DISTINCT respondent, people FROM member) AS m
LEFT JOIN intersected AS i ON i.respondent = m.respondent
LEFT JOIN counted AS c ON c.respondent = m.respondent
LEFT JOIN contradiction AS x ON x.respondent = m.respondent
