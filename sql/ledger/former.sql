-- Each respondent of a source with the token, and with the class in the last release of a series if the respondent is in that. known has
-- the respondents with their tokens.
-- parameter: $1 the series, $2 the position of its last release
SELECT k.respondent, k.token, m.class_no AS former_class
FROM known AS k
LEFT JOIN (
  SELECT respondent, class_no FROM anon.series_member WHERE series_id = $1 AND position = $2
) AS m ON m.respondent = k.token
