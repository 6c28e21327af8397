-- The class of each respondent of the last release of a series, and in the release before; who is not in that, is named.
-- parameter: $1 the series, $2 the position of its last release
SELECT m.position AS release, m.class_no AS class, f.position AS former_release, f.class_no AS former_class,
  CASE WHEN f.class_no IS NULL THEN m.respondent END AS respondent
FROM anon.series_member AS m
LEFT JOIN (
  SELECT position, class_no, respondent FROM anon.series_member WHERE series_id = $1 AND position = $2 - 1
) AS f ON f.respondent = m.respondent
WHERE m.series_id = $1 AND m.position = $2
