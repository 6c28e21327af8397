-- The bounds from below of what is sure, and those from above of what may be.
SELECT above.component, above.key, above.number, coalesce(below.low, 0) AS low, above.high
FROM above
LEFT JOIN below ON below.component IS NOT DISTINCT FROM above.component
  AND below.key IS NOT DISTINCT FROM above.key AND below.number = above.number
