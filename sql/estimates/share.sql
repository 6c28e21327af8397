-- The share of the leaves of each label (number) that satisfy each query's condition, where any does.
-- leaf has a row for each leaf and query. What holds for all leaves alike needs no weights; else p is NULL
-- where a weight is not known.
SELECT
  query,
  number,
  CASE
    WHEN count_if(holds) = count(*) THEN 1.0
    WHEN count(weight) = count(*) THEN least(1.0, sum(weight) FILTER (WHERE holds) / nullif(sum(weight), 0))
  END AS p,
  count_if(holds) = count(*) AS certain,
  sum(weight) FILTER (WHERE holds) AS satisfying,
  sum(weight) AS total
FROM leaf
GROUP BY query, number
HAVING count_if(holds) > 0
