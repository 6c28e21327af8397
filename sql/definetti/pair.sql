-- Each row with each value of its bucket: how many rows of the bucket have the value, and how many rows there are.
SELECT r.row_id, r.bucket, v.code, v.n, b.size
FROM learned_row AS r
JOIN bucket_value AS v ON v.bucket = r.bucket
JOIN (
  SELECT bucket, sum(n) AS size FROM bucket_value GROUP BY bucket
) AS b ON b.bucket = r.bucket
