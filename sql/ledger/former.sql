-- Each respondent of a source with the token and the class in the last release of a series, NULL if the respondent is
-- not in that release: respondent, token, former_class. known: the respondents with their tokens. parameter: $1 the
-- series, $2 the position of its last release
SELECT k.respondent, k.token, m.class_no AS former_class
FROM known AS k
LEFT JOIN (
  SELECT respondent, class_no FROM anon.series_member WHERE series_id = $1 AND position = $2
) AS m ON m.respondent = k.token
