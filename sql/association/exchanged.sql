-- The rows of the table cells; each $width that follow one another, a group, are put in a new random order.
--
-- So rows of a block that are near each other stay in one group, but their order in the other direction is random, and
-- a fragment's groups do not tell those of another. Returns row, block.
SELECT row, block
FROM (SELECT *, rowid - (SELECT min(rowid) FROM cells) AS number FROM cells) AS cell
ORDER BY number // $width ASC NULLS LAST, $draw ASC NULLS LAST
