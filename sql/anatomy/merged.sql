-- The slots after a merge: chunks are merged two by two, and if a bucket of the two violates, the merged chunk is one
-- bucket.
--
-- slots: the table of slots.sql; violating: class_id, the first slots of the buckets that violate. Chunk i of m is
-- merged with chunk i + m/2: neighboring chunks have the same values, because rows are assigned in the order of their
-- values. Returns slot, base, chunk, chunks, first.
SELECT slot.slot, slot.base, slot.chunk % ((slot.chunks + 1) // 2) AS chunk, (slot.chunks + 1) // 2 AS chunks,
  CASE WHEN hit.chunk IS NULL THEN slot.first ELSE slot.base + slot.chunk % ((slot.chunks + 1) // 2) END AS first
FROM slots AS slot
LEFT JOIN (
  SELECT DISTINCT slot.base, slot.chunk % ((slot.chunks + 1) // 2) AS chunk
  FROM slots AS slot
  JOIN violating ON slot.slot = violating.class_id
) AS hit ON slot.base = hit.base AND slot.chunk % ((slot.chunks + 1) // 2) = hit.chunk
