-- The first slot of each bucket, and the bucket's number from 1 in a random order: slot, bucket.
SELECT slot, row_number() OVER (ORDER BY draw ASC NULLS LAST) AS bucket
FROM (SELECT slot, $draw AS draw FROM slots WHERE slot = first) AS shaken
