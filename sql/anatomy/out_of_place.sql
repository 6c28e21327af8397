-- Counts the rows that, in the order of reading, have a lesser bucket than the row before, or no bucket.
SELECT count(*)
FROM (SELECT bucket, lag(bucket) OVER () AS former, row_number() OVER () AS number FROM exact) AS read
WHERE NOT coalesce((number = 1 OR bucket >= former) AND NOT bucket IS NULL, false)
