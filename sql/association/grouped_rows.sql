-- The rows in blocks with their values and groups: {values}, $groups.
--
-- in_blocks: row, cell, block. placed.number is the number of a row in its block, from 0, in the order of the random
-- number `cell`, which nothing else uses. numbers: block and its number in each fragment; drawn: row, {values}.
SELECT {drawn.values}, $groups
FROM (
  SELECT row, block,
    row_number() OVER (PARTITION BY block ORDER BY cell ASC NULLS LAST, row ASC NULLS LAST) - 1 AS number
  FROM in_blocks
) AS placed
JOIN numbers AS block ON placed.block = block.block
JOIN drawn ON placed.row = drawn.row
