-- The number of rows of each bucket that have each value: bucket, value, count.
--
-- dealt: slot, value; bucket: slot, bucket. A bucket of 4 rows with different values makes 4 rows of count 1.
SELECT numbers.bucket AS bucket, dealt.value AS value, CAST(count(*) AS BIGINT) AS count
FROM dealt
JOIN bucket AS numbers ON dealt.slot = numbers.slot
GROUP BY numbers.bucket, dealt.value
