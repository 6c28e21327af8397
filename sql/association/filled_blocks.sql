-- The rows with the block of each, from $offset + 1 on; NULL for rows in none.
--
-- part: the rows by {columns}, with number (from 0, by value), chunk and value; starts: that of starts.sql.
-- Counting begins at a random row, so that any row can be one of the last, which fill no block, and goes round.
SELECT {part.columns}, CASE WHEN rank < spread AND moved < blocks * $size
  THEN CAST(base + moved % blocks + $offset + 1 AS BIGINT) END AS block
FROM (
  SELECT {part.columns}, start.spread, start.blocks, start.base, part.number - start.before AS rank,
    (start.first + (part.number - start.before) + start.turn) % start.all_spread AS moved
  FROM part
  LEFT JOIN starts AS start ON part.chunk = start.chunk AND part.value = start.value
) AS part
