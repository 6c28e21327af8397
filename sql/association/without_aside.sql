-- The rows of each value without those that were set aside: chunk, value, n. Keys below 0 are values of one row, 0.
SELECT counted.chunk, counted.value, CAST(counted.n - coalesce(gone.n, 0) AS BIGINT) AS n
FROM counted
LEFT JOIN (
  SELECT greatest({key}, 0) AS value, count(*) AS n FROM aside GROUP BY greatest({key}, 0)
) AS gone ON counted.value = gone.value
