-- The respondents of a release, with the class in it and in the last release before. released has a row of each respondent.
SELECT r.class_no, f.token, f.former_class
FROM released AS r
JOIN former AS f ON f.respondent = r.respondent
