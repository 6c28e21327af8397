-- The rows of the table cells; each group of $width consecutive rows is put in a new random order: row, block.
--
-- So near rows of a block stay in one group, but their order in the other direction is random, and the groups of one
-- fragment reveal nothing about the groups of another.
SELECT row, block
FROM (SELECT *, rowid - (SELECT min(rowid) FROM cells) AS number FROM cells) AS cell
ORDER BY number // $width ASC NULLS LAST, $draw ASC NULLS LAST
