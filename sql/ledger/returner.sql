-- The latest class of each respondent who was in an earlier release of a series, but not in the last one. parameter: $1
-- the series, $2 the position of its last release
SELECT m.respondent AS token, any_value(f.respondent) AS respondent, max(m.position) AS position,
  arg_max(m.class_no, m.position) AS class_no
FROM anon.series_member AS m
JOIN (SELECT respondent, token FROM former WHERE former_class IS NULL) AS f ON f.token = m.respondent
WHERE m.series_id = $1 AND m.position < $2
GROUP BY m.respondent
