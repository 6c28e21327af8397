-- The combinations of classes and values of buckets alone: one holds if it does whatever is below the labels of the class.
--
-- A row whose label may satisfy or not does not fail by the values of its bucket only, so that bounds from below are those of
-- these combinations (bucket_bounds.sql).
SELECT
  id, number, drawn,
  any_value(component) AS component,
  any_value(key) AS key,
  any_value(n) AS n,
  any_value(ways) // count(*) AS ways,
  bool_and(holds) AND count(DISTINCT key) = 1 AS holds
FROM combination
GROUP BY id, number, drawn
