-- The rows in no block, each with $tries of the $blocks incomplete blocks: {columns}, number, turn, block, rows.
--
-- unplaced: the rows; open_block: block and rows. Both have drawn, random bits, which determine their order.
SELECT {free.columns}, free.number, turns.turn, lacking.block, lacking.rows
FROM (SELECT *, row_number() OVER (ORDER BY drawn ASC NULLS LAST) - 1 AS number FROM unplaced) AS free
CROSS JOIN (SELECT unnest(range($tries)) AS turn) AS turns
JOIN (SELECT *, row_number() OVER (ORDER BY drawn ASC NULLS LAST) - 1 AS at FROM open_block) AS lacking
  ON lacking.at = (free.number + turns.turn) % $blocks
