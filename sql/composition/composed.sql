-- The adversary's confidence in the value of respondents in the same classes: label, people, confidence, certain. The
-- label is the respondents' class in the later release in which they are.
SELECT m.label, m.people, c.confidence, CASE WHEN c.number = 1 THEN m.people ELSE 0 END AS certain
FROM (
  SELECT respondent, min(number) AS number, max(confidence) AS confidence FROM believed GROUP BY respondent
) AS c
JOIN (
  SELECT respondent, label, people, row_number() OVER (PARTITION BY respondent ORDER BY release DESC NULLS LAST) AS place FROM member
) AS m ON m.respondent = c.respondent AND m.place = 1
