-- The rows of a source, how many respondents they are of, and how many are nobody's.
SELECT count(*) AS n, count(DISTINCT entity) AS respondents, count(*) - count(entity) AS without FROM person
