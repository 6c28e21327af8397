-- The rows with the block that each fills, numbered from $offset + 1; NULL for a row in no block.
--
-- part: the rows by {columns}, with number (from 0, by value), chunk and value; starts: the table of starts.sql.
-- Counting begins at a random row and continues from the start after the end, so that any row can be among the last
-- rows, which fill no block.
SELECT {part.columns}, CASE WHEN rank < spread AND moved < blocks * $size
  THEN CAST(base + moved % blocks + $offset + 1 AS BIGINT) END AS block
FROM (
  SELECT {part.columns}, start.spread, start.blocks, start.base, part.number - start.before AS rank,
    (start.first + (part.number - start.before) + start.turn) % start.all_spread AS moved
  FROM part
  LEFT JOIN starts AS start ON part.chunk = start.chunk AND part.value = start.value
) AS part
