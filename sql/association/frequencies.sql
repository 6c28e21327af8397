-- How many values of a key have n rows: n, values. counts: value, n; the rows with the value 0 have a value each.
SELECT CASE WHEN value = 0 THEN 1 ELSE n END AS n, CAST(sum(CASE WHEN value = 0 THEN n ELSE 1 END) AS BIGINT) AS values
FROM counts
GROUP BY 1
