-- The rows up to each value of an attribute (dim) in a region (label), all its rows, and its least and greatest value.
--
-- counted: label, dim, value, n. Returns label, dim, value, lower, rows, low, high.
SELECT label, dim, value,
  CAST(sum(n) OVER (PARTITION BY label, dim ORDER BY value ASC NULLS LAST) AS BIGINT) AS lower,
  CAST(sum(n) OVER (PARTITION BY label, dim) AS BIGINT) AS rows,
  min(value) OVER (PARTITION BY label, dim) AS low,
  max(value) OVER (PARTITION BY label, dim) AS high
FROM counted
