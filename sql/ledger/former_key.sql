-- The class of each respondent of a release who was in an earlier release, and the signature of the class in the latest
-- of the earlier ones. Nearly all respondents were in the last release, whose classes are looked up by their numbers
-- alone; the others have no former_class. parameter: $1 the position of the release before
SELECT e.class_no AS class, k.key
FROM entrant AS e
JOIN (SELECT class_no, key FROM class_key WHERE position = $1) AS k ON k.class_no = e.former_class
UNION ALL
SELECT e.class_no AS class, k.key
FROM (SELECT class_no, token FROM entrant WHERE former_class IS NULL) AS e
JOIN returner AS r ON r.token = e.token
JOIN class_key AS k ON k.position = r.position AND k.class_no = r.class_no
