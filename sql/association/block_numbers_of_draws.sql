-- Each block's number, in each fragment, among those whose random numbers begin alike: block, {beginnings}, {numbers}.
--
-- drawn_blocks: block and a random number for each fragment, {draws}; $beginnings are their beginnings. Blocks with the
-- numbers a1, a3 and b2, which begin with a and b, are 0 and 1 of those with a, and 0 of those with b.
SELECT block, $beginnings AS "{beginnings}",
  row_number() OVER (PARTITION BY $beginnings ORDER BY {draws} ASC NULLS LAST) - 1 AS "{numbers}"
FROM drawn_blocks
