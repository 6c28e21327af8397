-- The signature of each respondent in the respondent's latest release of a series. Nearly all respondents are in the
-- last release, whose classes are looked up by their numbers alone; the others have no former_class. parameter: $1 the
-- position of its last release
SELECT f.respondent AS entity, c.signature
FROM former AS f
JOIN (
  SELECT k.class_no, s.signature FROM class_key AS k JOIN signature AS s ON s.key = k.key WHERE k.position = $1
) AS c ON c.class_no = f.former_class
UNION ALL
SELECT r.respondent AS entity, s.signature
FROM returner AS r
JOIN class_key AS k ON k.position = r.position AND k.class_no = r.class_no
JOIN signature AS s ON s.key = k.key
