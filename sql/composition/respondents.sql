-- How sure somebody is of respondents who are alike. NULL where no value is left, so that it cannot be the same in all releases.
SELECT m.respondent, m.people, c.confidence
FROM (SELECT DISTINCT respondent, people FROM member) AS m
LEFT JOIN believed AS c ON c.respondent = m.respondent
