-- The rows of each value, minus the rows that were set aside: chunk, value, n. A key below 0 belongs to one row, and
-- counts as the value 0.
SELECT counted.chunk, counted.value, CAST(counted.n - coalesce(gone.n, 0) AS BIGINT) AS n
FROM counted
LEFT JOIN (
  SELECT greatest({key}, 0) AS value, count(*) AS n FROM aside GROUP BY greatest({key}, 0)
) AS gone ON counted.value = gone.value
