-- The combinations of classes with the values of buckets only: a combination holds if it holds for every leaf below the
-- labels of the class.
--
-- If a label leaves open whether a row satisfies, the row may fail by more than the values of its bucket, so the lower
-- bounds are computed from these combinations (bucket_bounds.sql).
SELECT
  id, number, drawn,
  any_value(component) AS component,
  any_value(key) AS key,
  any_value(n) AS n,
  any_value(ways) // count(*) AS ways,
  bool_and(holds) AND count(DISTINCT key) = 1 AS holds
FROM combination
GROUP BY id, number, drawn
