-- The signature of each respondent in the latest release of a series that the respondent is in.
-- parameter: $1 the series, $2 the position of its last release
SELECT latest.respondent AS entity, s.signature
FROM (
  SELECT k.respondent, m.position, m.class_no
  FROM known AS k
  JOIN anon.series_member AS m ON m.respondent = k.token
  WHERE m.series_id = $1 AND m.position = $2
  UNION ALL
  SELECT respondent, position, class_no FROM returner
) AS latest
JOIN class_key AS c ON c.position = latest.position AND c.class_no = latest.class_no
JOIN signature AS s ON s.key = c.key
