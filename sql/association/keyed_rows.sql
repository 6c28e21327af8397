-- The rows with a number for each key: row, draw, position, {keys}.
--
-- rows: row, the values of which $digests are made, and the {near_names}; each of the {near} tables has value and bits,
-- of which $position is made; each of the {tables} has number and digest, for the tuples of a key that occur
-- repeatedly. $numbers read them under the names {of}. Two equal rows have the same number, and row 7, which no other
-- row equals, has -8.
SELECT rows.row, $draw AS draw, $position AS position, $numbers AS "{keys}"
FROM rows
JOIN "{near}" AS "{near_names}" ON {rows.near_names} IS NOT DISTINCT FROM "{near_names}".value
LEFT JOIN "{tables}" AS "{of}" ON $digests = "{of}".digest
