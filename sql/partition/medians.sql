-- The value at which half of each region's rows are reached: region, median. counted: region, value, n.
SELECT region, min(value) AS median
FROM (
  SELECT region, value, sum(n) OVER (PARTITION BY region ORDER BY value ASC NULLS LAST) AS reached,
    sum(n) OVER (PARTITION BY region) AS rows
  FROM counted
) AS running
WHERE 2 * reached >= rows
GROUP BY region
