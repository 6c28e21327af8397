-- The rows of a relation in any order, as one text: their number, and the exclusive or and the sum
-- of their hashes. It tells a changed snapshot from the one that was checked; the hash is the
-- engine's own, so only the same engine version can compare.
SELECT concat_ws(':', count(*), bit_xor(hash(snapshot)), sum(hash(snapshot)::HUGEINT))
FROM snapshot
