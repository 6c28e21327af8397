-- A summary of the ranked values of each attribute (number): number, count, span, plain, leaves, null_rank.
--
-- ranked: number, rank_0, position, leaf, is_null. `span` is the distance from the first to the last position, `plain`
-- whether positions equal ranks plus an offset, and null_rank the rank of NULL, if it occurs. Positions 3.0, 4.0 and 5.0
-- of the ranks 0, 1 and 2: 3, 2.0, true.
SELECT number, count(*) AS count, max(position) - min(position) AS span,
  bool_and(position - first = CAST(rank_0 AS DOUBLE)) AS plain, sum(leaf) AS leaves,
  max(CASE WHEN is_null THEN rank_0 END) AS null_rank
FROM (SELECT *, min(position) OVER (PARTITION BY number) AS first FROM ranked) AS with_first
GROUP BY number
