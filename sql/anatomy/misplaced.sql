-- Counts the positions at which a row of one table (exact) and a value of the other (sensitive) differ in their bucket,
-- or the value does not count 1.
--
-- The shorter table continues with NULL, which equals no bucket.
SELECT count(*)
FROM exact
POSITIONAL JOIN sensitive
WHERE NOT coalesce(exact.bucket = sensitive.bucket AND sensitive."count" = 1, false)
