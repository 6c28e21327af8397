-- The number of buckets, the rows of the smallest and of the largest bucket, and the number of all rows: one row.
SELECT count(*), coalesce(min(n), 0), coalesce(max(n), 0), coalesce(CAST(sum(n) AS BIGINT), 0)
FROM (SELECT count(*) AS n FROM rows_in_buckets GROUP BY bucket) AS bucket
