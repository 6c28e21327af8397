-- The blocks of the table cells, in a random order: block. Each block has $rows consecutive rows there.
SELECT block
FROM (SELECT *, rowid - (SELECT min(rowid) FROM cells) AS number FROM cells) AS cell
WHERE number % $rows = 0
ORDER BY $draw ASC NULLS LAST
