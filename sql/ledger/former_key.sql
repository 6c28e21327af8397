-- The class of each respondent of a release who was in one before, and the signature of the class in the latest of these, NULL if it has none.
-- parameter: $1 the position of the release before
SELECT e.class_no AS class, k.key
FROM (
  SELECT class_no, $1 AS position, former_class FROM entrant WHERE former_class IS NOT NULL
  UNION ALL
  SELECT e.class_no, r.position, r.class_no AS former_class
  FROM entrant AS e
  JOIN returner AS r ON r.token = e.token
  WHERE e.former_class IS NULL
) AS e
LEFT JOIN class_key AS k ON k.position = e.position AND k.class_no = e.former_class
