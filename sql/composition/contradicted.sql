-- The respondents of two sets that no values agree with which stay the same: more rows would have to be those of respondents whom the one
-- set has and the other has not than there are.
SELECT DISTINCT m.respondent
FROM (
  SELECT whole AS set_no FROM difference WHERE total - nobody > people
  UNION
  SELECT part AS set_no FROM difference WHERE total - nobody > people
) AS d
JOIN set_member AS m ON m.set_no = d.set_no
