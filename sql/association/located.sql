-- The rows of the blocks in the order of {keys}, rows with equal keys in a random order: row, block.
--
-- The random order is a new one: the order in which blocks were filled would reveal something about a row's values.
SELECT row, block
FROM placed
ORDER BY {keys} ASC NULLS LAST, $draw ASC NULLS LAST
