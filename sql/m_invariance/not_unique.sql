-- The number of signatures with a value that several rows of a class have, and the number of signatures with fewer than
-- m values: repeated, small; one row.
SELECT coalesce(sum(CASE WHEN most > 1 THEN 1 ELSE 0 END), 0) AS repeated, coalesce(sum(CASE WHEN size < $m THEN 1 ELSE 0 END), 0) AS small
FROM (SELECT signature, max(n) AS most, count(*) AS size FROM signature_value GROUP BY signature) AS each
