-- The rows of a relation in any order, as one text: their number, and the exclusive or and the sum
-- of their hashes. It tells a changed snapshot from the one that was checked; the hash is the
-- engine's own, so only the same engine version can compare.
-- Columns of lists, structs and such go in a second time, as VARIANT, by release/existing/objects.py.
-- Every column counts: `hash(snapshot)` would be one column where a release has one of that name.
SELECT concat_ws(':', count(*), bit_xor(digest), sum(digest::HUGEINT))
FROM (SELECT hash(*COLUMNS(*)) AS digest FROM snapshot)
