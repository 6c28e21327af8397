-- The smallest groups of respondents who share no set with anybody else: component. A group of respondents who are all
-- in the same sets is left out, because each of these sets alone reveals as much. parameter: $1 the greatest number of
-- people of a group, $2 of all groups
SELECT component
FROM (
  SELECT component, people, sum(people) OVER (
      ORDER BY people ASC NULLS LAST, component ASC NULLS LAST ROWS UNBOUNDED PRECEDING
    ) AS so_far
  FROM (
    SELECT component, sum(people) AS people
    FROM (
      SELECT m.respondent, max(m.people) AS people, max(c.component) AS component
      FROM set_member AS m
      JOIN component AS c ON c.set_no = m.set_no
      GROUP BY m.respondent
    ) AS placed
    GROUP BY component
    HAVING count(*) > 1 AND sum(people) <= $1
  ) AS small
) AS added
WHERE so_far <= $2
