-- A text that identifies the rows of a relation in any order: their number, and the exclusive or and the sum of their
-- hashes. It distinguishes a changed snapshot from the snapshot that was checked; the hash is the engine's own, so only
-- the same version of the engine can compare. Columns of lists, structs and similar types are added a second time, as
-- VARIANT, by release/existing/objects.py. The columns are listed, because `hash(snapshot)` would read only one column
-- of a release that has a column of that name.
SELECT concat_ws(':', count(*), bit_xor(digest), sum(digest::HUGEINT)) AS fingerprint
FROM (SELECT hash(*COLUMNS(*)) AS digest FROM snapshot)
