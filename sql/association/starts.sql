-- From which number on the rows with a value are counted when blocks are filled.
--
-- counts: chunk, value, n and drawn, random bits; block_count: that of block_count.sql. There are `before` rows before
-- the first with a value. Of each value `spread` rows, as many as there are blocks, are numbered from `first`, value
-- after value; all of the rows with the value 0, which differ, are. Of the chunk's `all_spread` rows the one with the
-- number `turn` is drawn; engines without unsigned numbers have random bits below 0.
-- Returns chunk, value, before, blocks, base, spread, first, all_spread, turn.
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
