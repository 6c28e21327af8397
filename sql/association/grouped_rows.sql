-- The rows in blocks with their values and groups: {values}, $groups.
--
-- in_blocks: row, cell, block; the rows of a block are numbered from 0, placed.number, in the order of the random numbers
-- `cell`, which were used for nothing else. numbers: block and its number in each fragment; drawn: row, {values}.
SELECT {drawn.values}, $groups
FROM (
  SELECT row, block,
    row_number() OVER (PARTITION BY block ORDER BY cell ASC NULLS LAST, row ASC NULLS LAST) - 1 AS number
  FROM in_blocks
) AS placed
JOIN numbers AS block ON placed.block = block.block
JOIN drawn ON placed.row = drawn.row
