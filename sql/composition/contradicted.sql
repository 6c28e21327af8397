-- The respondents of two sets of which unchanged values are impossible: the sets differ in more rows than the first set
-- has respondents who are not in the second.
SELECT DISTINCT m.respondent
FROM (
  SELECT whole AS set_no FROM difference WHERE total - nobody > people
  UNION
  SELECT part AS set_no FROM difference WHERE total - nobody > people
) AS d
JOIN set_member AS m ON m.set_no = d.set_no
