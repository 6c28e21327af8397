-- The signature of each respondent in the latest release of a series that the respondent is in.
-- parameter: $1 the position of its last release
SELECT latest.respondent AS entity, s.signature
FROM (
  SELECT respondent, $1 AS position, former_class AS class_no FROM former WHERE former_class IS NOT NULL
  UNION ALL
  SELECT respondent, position, class_no FROM returner
) AS latest
JOIN class_key AS c ON c.position = latest.position AND c.class_no = latest.class_no
JOIN signature AS s ON s.key = c.key
