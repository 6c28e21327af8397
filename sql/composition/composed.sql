-- How sure the adversary is of respondents who are alike, and in which class the respondent is, of the later release if of both.
SELECT m.label, m.people, c.confidence, CASE WHEN c.number = 1 THEN m.people ELSE 0 END AS certain
FROM (
  SELECT respondent, min(number) AS number, max(confidence) AS confidence FROM believed GROUP BY respondent
) AS c
JOIN (
  SELECT respondent, label, people, row_number() OVER (PARTITION BY respondent ORDER BY release DESC NULLS LAST) AS place FROM member
) AS m ON m.respondent = c.respondent AND m.place = 1
