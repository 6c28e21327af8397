-- Each slot as a chunk and a bucket of its own, from the `groups` of each region, which begin behind `base` others.
--
-- Returns slot, base, chunk, chunks, first, the bucket's first slot.
SELECT base + chunk AS slot, base, chunk, chunks, base + chunk AS first
FROM (SELECT base, groups AS chunks, unnest(generate_series(0, groups - 1, 1)) AS chunk FROM groups) AS numbered
