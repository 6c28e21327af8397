-- The rows of each region by their value, in every attribute: label, dim, value, n.
--
-- points: label, and $n, the rows of a point; $attributes are the numbers of the attributes (dim), and $ranks the point's
-- ranks in these (value). A point of 2 rows with the ranks 4 and 1 adds 2 to value 4 of attribute 0 and to 1 of 1.
SELECT label, dim, value, CAST(sum(n) AS BIGINT) AS n
FROM (
  SELECT label, unnest([CAST($attributes AS INTEGER)]) AS dim, unnest([$ranks]) AS value, $n AS n FROM points
) AS each
GROUP BY label, dim, value
