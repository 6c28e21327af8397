-- The buckets with a value twice, or less than once: class_id.
--
-- bucket_values: bucket, value, count, a row for each value of each bucket. Two rows of bucket 3 and the value 'flu'
-- make 3 one of these buckets.
SELECT bucket AS class_id
FROM bucket_values
GROUP BY bucket, value
HAVING count(*) > 1 OR min(count) < 1
