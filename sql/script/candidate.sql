-- The rows with the numbers of their buckets: the {columns} under their published names {carried}, and bucket.
--
-- dealt: slot, the {columns}; bucket: slot, bucket, the numbers in a random order. The rows of slot 0 are in one
-- bucket.
SELECT {dealt.columns} AS "{carried}", numbers.bucket
FROM dealt
JOIN bucket AS numbers ON dealt.slot = numbers.slot
