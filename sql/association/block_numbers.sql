-- The blocks of $rows rows each, one after the other in the table cells, in a random order: block.
SELECT block
FROM (SELECT *, rowid - (SELECT min(rowid) FROM cells) AS number FROM cells) AS cell
WHERE number % $rows = 0
ORDER BY $draw ASC NULLS LAST
