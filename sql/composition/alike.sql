-- Respondents who are in the same classes of the same releases: one of them speaks for all, who are `people`.
SELECT m.release, m.class, m.label, m.respondent, k.people
FROM (
  SELECT min(respondent) AS respondent, count(*) AS people
  FROM (
    SELECT respondent, string_agg(concat(release, ':', class), ',' ORDER BY release ASC NULLS LAST) AS classes
    FROM member
    GROUP BY respondent
  ) AS known
  GROUP BY classes
) AS k
JOIN member AS m ON m.respondent = k.respondent
