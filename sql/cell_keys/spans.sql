-- The rows of a tree, with three more figures for the nodes of one level: {rank}, {lowest} and {leaves}.
--
-- spans: a row for each value, leaf, the labels {path} from the level up, and {low} and {order}, which sort the nodes
-- of the level below. {lowest} is the least {low} below the value's node, {leaves} the number of leaves there, and
-- {rank} the $rank of the node below. The values 1, 2 and 3 with the labels a, a, b have {lowest} 1, 1, 3 and {leaves}
-- 2, 2, 1.
SELECT *, CAST($rank - 1 AS BIGINT) AS "{rank}",
  min({low}) OVER (PARTITION BY {path} ORDER BY {order} ASC NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS "{lowest}",
  CAST(sum(leaf) OVER (PARTITION BY {path} ORDER BY {order} ASC NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS BIGINT) AS "{leaves}"
FROM spans
