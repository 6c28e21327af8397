-- One step of the connected components of sets that share respondents: set_no, component. A set gets the least number
-- among the sets that share a respondent with it, and among the numbers that these sets have so far.
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
