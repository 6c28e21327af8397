-- The regions of the points, with bucket numbers from 1 in random order: region, bucket, rows. points: region, n.
SELECT region, row_number() OVER (ORDER BY draw ASC NULLS LAST) AS bucket, rows
FROM (
  SELECT *, $draw AS draw
  FROM (SELECT region, CAST(sum(n) AS BIGINT) AS rows FROM points GROUP BY region) AS counted
) AS drawn
