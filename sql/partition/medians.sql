-- The least value of each region up to which at least half of its rows lie: region, median. counted: region, value, n.
SELECT region, min(value) AS median
FROM (
  SELECT region, value, sum(n) OVER (PARTITION BY region ORDER BY value ASC NULLS LAST) AS reached,
    sum(n) OVER (PARTITION BY region) AS rows
  FROM counted
) AS running
WHERE 2 * reached >= rows
GROUP BY region
