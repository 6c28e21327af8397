-- The rows of the blocks, in the order of {keys} and else in a random one: row, block.
--
-- The random order is a new one: that in which blocks were filled would tell of a row's values.
SELECT row, block
FROM placed
ORDER BY {keys} ASC NULLS LAST, $draw ASC NULLS LAST
