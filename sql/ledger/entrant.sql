-- The respondents of a release, with their class in it and in the last release before: class_no, token, former_class.
-- released has a row for each respondent.
SELECT r.class_no, f.token, f.former_class
FROM released AS r
JOIN former AS f ON f.respondent = r.respondent
