-- The respondents of groups with the sets that they are in, the smallest groups first: component, set_no, respondent,
-- people.
SELECT c.component, m.set_no, m.respondent, m.people
FROM component AS c
JOIN small_group AS g ON g.component = c.component
JOIN set_member AS m ON m.set_no = c.set_no
ORDER BY sum(m.people) OVER (PARTITION BY c.component) ASC NULLS LAST, c.component ASC NULLS LAST, m.set_no ASC NULLS LAST,
  m.respondent ASC NULLS LAST
