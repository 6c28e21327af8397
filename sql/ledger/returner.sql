-- The latest class of each respondent who is not in the last release of a series, and was in one before. known has the respondents
-- with their tokens.
-- parameter: $1 the series, $2 the position of its last release
SELECT k.respondent, max(m.position) AS position, arg_max(m.class_no, m.position) AS class_no
FROM anon.series_member AS m
JOIN (
  SELECT k.respondent, k.token
  FROM known AS k
  WHERE NOT EXISTS (
    SELECT 1 FROM anon.series_member AS l WHERE l.series_id = $1 AND l.position = $2 AND l.respondent = k.token
  )
) AS k ON k.token = m.respondent
WHERE m.series_id = $1 AND m.position < $2
GROUP BY k.respondent
