-- The numbers of blocks of $size rows, among those in `tried`, that the values of one key allow: blocks.
--
-- tried: blocks, left_out, alike; frequency: n, values, the number of values of the key that n rows have. A block has a
-- value at most once, and at most `alike` of the rows left out have it.
SELECT tried.blocks
FROM tried
CROSS JOIN frequency
GROUP BY tried.blocks, tried.left_out, tried.alike
HAVING CAST(sum(least(frequency.n, tried.blocks) * frequency.values) AS BIGINT) >= tried.blocks * $size
  AND (tried.left_out = 0 OR (
    max(frequency.n) <= tried.blocks + tried.alike
    AND CAST(sum(least(frequency.n, tried.alike) * frequency.values) AS BIGINT) >= tried.left_out))
