-- The numbers of blocks of $size rows in `tried` that one key allows: blocks.
--
-- frequency: n, values, how many values of the key have n rows. A block has a value once at most, and the rows left out
-- have it at most `alike` times.
SELECT tried.blocks
FROM tried
CROSS JOIN frequency
GROUP BY tried.blocks, tried.left_out, tried.alike
HAVING CAST(sum(least(frequency.n, tried.blocks) * frequency.values) AS BIGINT) >= tried.blocks * $size
  AND (tried.left_out = 0 OR (
    max(frequency.n) <= tried.blocks + tried.alike
    AND CAST(sum(least(frequency.n, tried.alike) * frequency.values) AS BIGINT) >= tried.left_out))
