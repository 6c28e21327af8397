-- The bounds from below of what is sure, and those from above of what may be.
SELECT above.key, above.number, coalesce(below.low, 0) AS low, above.high
FROM above
LEFT JOIN below ON below.key IS NOT DISTINCT FROM above.key AND below.number = above.number
