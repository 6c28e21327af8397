-- The rows of the join of two sides, counted by X, which becomes a number, and Y: x, y, n.
--
-- side_0, side_1: the shared columns {keys}, n, and the columns $values; the last of these is Y, the others are X. Two
-- rows of one side and three of the other that agree in the keys are n = 6 rows.
SELECT $x AS x, {y} AS y, n
FROM (
  SELECT $values AS "{names}", sum(side_0.n * side_1.n) AS n
  FROM side_0
  JOIN side_1 ON TRUE AND {side_0.keys} IS NOT DISTINCT FROM {side_1.keys}
  GROUP BY $values
) AS together
