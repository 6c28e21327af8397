-- The rows of an association, its blocks, the rows of the smallest and of the largest block, and five numbers of each
-- fragment: the rows with a group, the least and the greatest group, the blocks linked to several blocks of the fragment,
-- and the different blocks linked. One row. Blocks are those of the first fragment.
--
-- association: the {groups}, numbers of groups; a block of a fragment has as many groups as $sizes has for it. $figures are
-- the five numbers, of there_i (the rows with a group), low_i, high_i, first_i and last_i, the least and the greatest block.
SELECT CAST(sum(n) AS BIGINT), count(*), min(n), max(n), $figures
FROM (
  SELECT block_0, count(*) AS n, count({numbers}) AS "{there}", min({numbers}) AS "{low}", max({numbers}) AS "{high}",
    min({blocks}) AS "{first}", max({blocks}) AS "{last}"
  FROM (
    SELECT {groups} AS "{numbers}", ({groups} - 1) // $sizes AS "{blocks}" FROM association
  ) AS linked
  GROUP BY block_0
) AS by_block
