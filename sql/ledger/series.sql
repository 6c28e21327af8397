-- The series, each with its policy, the number of its releases, and the number of respondents of all of them.
SELECT s.series, s.policy, count(r.position) AS releases,
  (SELECT count(DISTINCT m.respondent) FROM anon.series_member AS m WHERE m.series_id = s.series_id) AS respondents
FROM anon.series AS s
LEFT JOIN anon.series_release AS r ON r.series_id = s.series_id
GROUP BY s.series_id, s.series, s.policy
ORDER BY min(s.rowid) ASC NULLS LAST
