-- The same where each label is a value: all of it satisfies, or nothing.
SELECT query, number, CAST(1 AS DOUBLE) AS p, true AS certain, CAST(NULL AS DOUBLE) AS satisfying, CAST(NULL AS DOUBLE) AS total
FROM satisfying
