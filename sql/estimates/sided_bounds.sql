-- Bounds of counts: the lower bounds of `below`, of the rows that satisfy for certain, with the upper bounds of
-- `above`, of the rows that may satisfy.
SELECT above.component, above.key, above.number, coalesce(below.low, 0) AS low, above.high
FROM above
LEFT JOIN below ON below.component IS NOT DISTINCT FROM above.component
  AND below.key IS NOT DISTINCT FROM above.key AND below.number = above.number
