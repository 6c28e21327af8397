-- The share of the leaves of each label (number) that satisfy each query's condition, where any does.
-- leaf has the leaves, satisfying those that satisfy, for each query. What holds for all leaves alike needs no
-- weights; else p is NULL where a weight is not known.
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
    WHEN whole.known = whole.leaves THEN least(1.0, held.weight / nullif(whole.total, 0))
  END AS p,
  held.leaves = whole.leaves AS certain,
  held.weight AS satisfying,
  whole.total
FROM held
JOIN whole ON held.number = whole.number
