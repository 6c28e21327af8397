-- The share of the leaves of each label (number) that satisfy each query's condition, for labels with such a leaf.
--
-- leaf: the leaves with their weights; satisfying: the leaves that satisfy, for each query. If all leaves of a label
-- satisfy, p is 1 without weights; otherwise p is NULL if a weight is unknown or all weights are 0.
WITH whole AS (
  SELECT number, count(*) AS leaves, count(weight) AS known, sum(weight) AS total FROM leaf GROUP BY number
), held AS (
  SELECT query, number, count(*) AS leaves, sum(weight) AS weight FROM satisfying GROUP BY query, number
)
SELECT
  held.query,
  held.number,
  CASE
    WHEN held.leaves = whole.leaves THEN 1.0
    WHEN whole.known = whole.leaves AND whole.total <> 0 THEN least(1.0, held.weight / whole.total)
  END AS p,
  held.leaves = whole.leaves AS certain,
  held.weight AS satisfying,
  whole.total
FROM held
JOIN whole ON held.number = whole.number
