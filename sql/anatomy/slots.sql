-- The slots before any merge, one for each group of each region; each slot is a chunk and a bucket by itself.
--
-- groups: the `groups` of each region, and the number `base` of groups in the regions before it. Returns slot, base,
-- chunk, chunks, first, the bucket's first slot.
SELECT base + chunk AS slot, base, chunk, chunks, base + chunk AS first
FROM (SELECT base, groups AS chunks, unnest(generate_series(0, groups - 1, 1)) AS chunk FROM groups) AS numbered
