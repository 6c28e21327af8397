-- How sure somebody is of each respondent. NULL where no value is left, so that it cannot be the same in all releases.
SELECT m.respondent, c.confidence
FROM (SELECT DISTINCT respondent FROM member) AS m
LEFT JOIN believed AS c ON c.respondent = m.respondent
