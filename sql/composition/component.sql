-- The sets that are connected by respondents, step by step: each gets the least number that any set has which shares one with it, or the
-- number that the set of this number has.
SELECT m.set_no, min(r.component) AS component
FROM set_member AS m
JOIN (
  SELECT m.respondent, min(j.component) AS component
  FROM set_member AS m
  JOIN component AS c ON c.set_no = m.set_no
  JOIN component AS j ON j.set_no = c.component
  GROUP BY m.respondent
) AS r ON r.respondent = m.respondent
GROUP BY m.set_no
