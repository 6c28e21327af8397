-- Each row with each value of its bucket: row_id, bucket, code, n (the rows of the bucket with the value), size (the
-- rows of the bucket).
SELECT r.row_id, r.bucket, v.code, v.n, b.size
FROM learned_row AS r
JOIN bucket_value AS v ON v.bucket = r.bucket
JOIN (
  SELECT bucket, sum(n) AS size FROM bucket_value GROUP BY bucket
) AS b ON b.bucket = r.bucket
