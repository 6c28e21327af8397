-- A column's values in the order of {order}: value, n, leaf, rank_0, position, {firsts}, {leaves}.
--
-- tree: value, n, leaf, {leaves}, and the columns of {order}. rank_0 counts from 0. The values 5, 7 and NULL, in the
-- order of value IS NULL and value, have the ranks 0, 1 and 2.
SELECT value, n, leaf, rank AS rank_0, $position AS position, {firsts}, {leaves}
FROM (
  SELECT *, CAST(row_number() OVER (ORDER BY {order} ASC NULLS LAST) - 1 AS BIGINT) AS rank FROM "{tree}"
) AS numbered
