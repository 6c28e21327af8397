-- The values of a sensitive attribute, NULL included, with codes from 1 in their order: value, n, code.
--
-- counted: value, n. The values b (2 rows), NULL (1 row) and a (3 rows) have the codes 2, 3 and 1.
SELECT value, n, row_number() OVER (ORDER BY value IS NULL ASC NULLS LAST, value ASC NULLS LAST) AS code
FROM counted
