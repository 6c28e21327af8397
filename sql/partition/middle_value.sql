-- The value of the middle row of each region, without NULL: region, middle.
--
-- points: region, n and the rank of an attribute's value; ranked: its values by rank.
SELECT region, arg_min(value, rank) AS middle
FROM (
  SELECT point.region, {point.rank} AS rank, valued.value,
    sum(point.n) OVER (PARTITION BY point.region ORDER BY {point.rank} ASC NULLS LAST) AS reached,
    sum(point.n) OVER (PARTITION BY point.region) AS total
  FROM points AS point
  JOIN ranked AS valued ON {valued.of_value} = {point.rank} AND NOT valued.value IS NULL
) AS running
WHERE 2 * reached >= total
GROUP BY region
