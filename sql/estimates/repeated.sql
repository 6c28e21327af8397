-- The rows of a table, each as often as its {number} says: {columns}, {number}, a number from 0 within its {block}.
--
-- {groups}: {columns}, {number}. A row with the number 5 is repeated, with the $size 2, in blocks of 2, 2 and 1 rows.
SELECT {columns},
  unnest(range(
    CASE WHEN {number} - {block} * $size < $size THEN {number} - {block} * $size ELSE $size END
  )) AS "{number}"
FROM (
  SELECT {columns}, {number}, unnest(range(({number} + ($size - 1)) // $size)) AS "{block}" FROM "{groups}"
) AS numbered
