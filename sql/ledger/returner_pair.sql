-- The classes of each respondent of the last release of a series who is not in the release before, in the last and in the latest before
-- with the respondent.
-- parameter: $1 the series, $2 the position of its last release
SELECT any_value(p.release) AS release, any_value(p.class) AS class,
  max(m.position) AS former_release, arg_max(m.class_no, m.position) AS former_class
FROM anon.series_member AS m
JOIN (SELECT respondent, release, class FROM pair WHERE respondent IS NOT NULL) AS p ON p.respondent = m.respondent
WHERE m.series_id = $1 AND m.position < $2 - 1
GROUP BY p.respondent
