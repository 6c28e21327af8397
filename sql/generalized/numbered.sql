-- A row for each value: value and the {columns}, for each level its label and the label's number.
--
-- shown: value, level, label, a row for each value and level; the {columns} are of value, level, label, code. Equal
-- labels have equal numbers at all levels: the labels 'a' at level 1, and 'a' and 'b' at level 2, have the numbers 0, 0
-- and 1.
SELECT value, {columns}
FROM (
  SELECT value, level, label, CAST(dense_rank() OVER (ORDER BY label ASC NULLS LAST) - 1 AS BIGINT) AS code FROM shown
) AS numbers
GROUP BY value
