-- The number of values of a key that n rows have: n, values. counts: value, n; each row with the value 0 has its own
-- value.
SELECT CASE WHEN value = 0 THEN 1 ELSE n END AS n, CAST(sum(CASE WHEN value = 0 THEN n ELSE 1 END) AS BIGINT) AS values
FROM counts
GROUP BY 1
