-- The published number of the bucket of each class, in a random order: signature, place, bucket.
SELECT signature, place, row_number() OVER (ORDER BY draw ASC NULLS LAST, signature ASC NULLS LAST, place ASC NULLS LAST) AS bucket
FROM class
