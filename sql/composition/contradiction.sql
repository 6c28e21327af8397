-- The respondents among whom a row must have changed: by sets that contradict each other, or because there is no world.
SELECT respondent FROM contradicted_set
UNION
SELECT respondent FROM by_worlds WHERE confidence IS NULL
