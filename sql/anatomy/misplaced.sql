-- Counts the rows of one table without the bucket of the value at their position in the other, which counts once.
--
-- The shorter table goes on with NULL, which is no bucket.
SELECT count(*)
FROM exact
POSITIONAL JOIN sensitive
WHERE NOT coalesce(exact.bucket = sensitive.bucket AND sensitive."count" = 1, false)
