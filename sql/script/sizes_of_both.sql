-- The buckets of the written rows, each row with n = 1, and those of the written values, with n = -count: bucket, n.
--
-- candidate: bucket; candidate_value: bucket, count. A bucket of two rows and two values adds up to n = 0.
SELECT bucket, CAST(1 AS BIGINT) AS n FROM candidate
UNION ALL
SELECT bucket, -count AS n FROM candidate_value
