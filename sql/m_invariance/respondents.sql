-- The number of rows of a source, of their respondents, and of rows without a respondent: n, respondents, without; one
-- row.
SELECT count(*) AS n, count(DISTINCT entity) AS respondents, count(*) - count(entity) AS without FROM person
