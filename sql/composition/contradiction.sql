-- The respondents among whom a row must have changed: because sets contradict each other, or because no world exists.
SELECT respondent FROM contradicted_set
UNION
SELECT respondent FROM by_worlds WHERE confidence IS NULL
