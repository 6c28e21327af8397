-- The mean of the numbers of each region, without NULL: region, middle.
--
-- points: region, n and the rank of an attribute's value; ranked: its values by rank. If the sum of the numbers exceeds
-- a DOUBLE, they are multiplied by $down first, and the mean by $up. Numbers 1 and 4, of 2 rows and 1 row: 2.
SELECT region, CASE WHEN isfinite(sum(number * n) / sum(n)) THEN sum(number * n) / sum(n)
  ELSE sum((number * $down) * n) / sum(n) * $up END AS middle
FROM (
  SELECT point.region, point.n, CAST(valued.value AS DOUBLE) AS number
  FROM points AS point
  JOIN ranked AS valued ON {valued.of_value} = {point.rank} AND NOT valued.value IS NULL
) AS numbers
GROUP BY region
