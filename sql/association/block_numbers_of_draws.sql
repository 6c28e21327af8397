-- The number of each block, in each fragment, among the blocks whose random numbers begin alike: block, {beginnings},
-- {numbers}.
--
-- drawn_blocks: block and a random number for each fragment, {draws}; $beginnings are their beginnings. Blocks with the
-- random numbers a1, a3 and b2 begin with a, a and b: the first two are 0 and 1 of a, the last is 0 of b.
SELECT block, $beginnings AS "{beginnings}",
  row_number() OVER (PARTITION BY $beginnings ORDER BY {draws} ASC NULLS LAST) - 1 AS "{numbers}"
FROM drawn_blocks
