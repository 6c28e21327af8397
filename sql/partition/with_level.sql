-- The rows of turn with the level of the tree that a cut in the attribute $dim respects: *, level.
--
-- That is the level below the lowest common ancestor of the region's least and greatest rank, $low and $high; 0 is the
-- level of values. ancestors: dim, level, rank, first, for each value (rank) of an attribute the first rank below its
-- ancestor at a level. $heights are the heights of the trees of $attributes, whose top no row has.
SELECT turn.*, CAST(coalesce((
    SELECT min(lower.level)
    FROM ancestors AS lower
    JOIN ancestors AS upper ON lower.dim = upper.dim AND lower.level = upper.level AND lower.first = upper.first
    WHERE lower.dim = $dim AND lower.rank = $low AND upper.rank = $high
  ), CASE WHEN $dim = $attributes THEN $heights END) - 1 AS INTEGER) AS level
FROM turn
