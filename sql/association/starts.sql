-- The number at which the rows of each value begin to be counted when blocks are filled.
--
-- counts: chunk, value, n and drawn, random bits; block_count: the table of block_count.sql. There are `before` rows
-- before the first row with a value. At most `blocks` rows of each value, `spread`, are numbered from `first`, value
-- after value; of the value 0, whose rows all differ, every row is. Counting begins at the row number `turn`, a random
-- number, of the chunk's `all_spread` rows; on engines without unsigned numbers random bits may be below 0. Returns
-- chunk, value, before, blocks, base, spread, first, all_spread, turn.
SELECT chunk, value, before, blocks, base, spread, first, all_spread,
  CAST((all_drawn % all_spread + all_spread) % all_spread AS BIGINT) AS turn
FROM (
  SELECT *,
    CAST(sum(spread) OVER (PARTITION BY chunk ORDER BY value ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) - spread AS first,
    CAST(sum(spread) OVER (PARTITION BY chunk) AS BIGINT) AS all_spread,
    bit_xor(drawn) OVER (PARTITION BY chunk) AS all_drawn
  FROM (
    SELECT chunk, value, before, blocks, base, drawn, CASE WHEN value = 0 THEN n ELSE least(n, blocks) END AS spread
    FROM (
      SELECT *, CAST(sum(n) OVER (ORDER BY chunk ASC NULLS LAST, value ASC NULLS LAST
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) - n AS before
      FROM counts
    ) AS counted
    JOIN block_count USING (chunk)
  ) AS joined
) AS summed
