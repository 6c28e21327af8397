-- A row for each row of a bucket that is not a counterfeit: {bucket}, {columns}.
--
-- published: {bucket} and {columns}, in which the rows of a bucket agree; counterfeits: bucket, n. Nobody knows which
-- rows are counterfeits, so any n rows of a bucket are left out: a bucket of 5 rows with 2 counterfeits has 3 rows.
SELECT {bucket}, {columns}
FROM (
  SELECT {counted.bucket}, {counted.columns}, unnest(range(CAST((counted.n - coalesce(stated.n, 0)) AS BIGINT)))
  FROM (SELECT {bucket}, {columns}, count(*) AS n FROM published GROUP BY {bucket}, {columns}) AS counted
  LEFT JOIN counterfeits AS stated ON {counted.bucket} = stated.bucket
) AS each
