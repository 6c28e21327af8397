-- The rows of the most frequent value, the number of all rows, and the number of values: most, n, number_of_values; one
-- row.
SELECT coalesce(max(n), 0) AS most, coalesce(sum(n), 0) AS n, count(*) AS number_of_values FROM value_code
