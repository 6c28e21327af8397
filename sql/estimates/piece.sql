-- The spans of values below each label, cut at every constant of the query, so that on a piece no comparison with these
-- constants changes. An edge is a point of the axis and a side of it, 0 before the point and 1 behind it, so that a
-- point can be a piece.
WITH edge AS (
  SELECT *, low AS at, low_side AS side FROM span
  UNION
  SELECT *, high AS at, high_side AS side FROM span
  UNION
  SELECT span.*, cut.at, side_of.side
  FROM span
  JOIN cut ON cut.at >= span.low AND cut.at <= span.high
  CROSS JOIN (SELECT 0 AS side UNION ALL SELECT 1 AS side) AS side_of
  WHERE (cut.at > span.low OR side_of.side > span.low_side) AND (cut.at < span.high OR side_of.side < span.high_side)
), numbered AS (
  SELECT
    *,
    lead(at) OVER along AS to_at,
    lead(side) OVER along AS to_side
  FROM edge
  WINDOW along AS (
    PARTITION BY label, low, low_side, high, high_side, known, mask ORDER BY at ASC NULLS LAST, side ASC NULLS LAST
  )
)
SELECT
  label, at, side, to_at, to_side, known, mask,
  open_low AND at = low AND side = low_side AS from_open,
  open_high AND to_at = high AND to_side = high_side AS to_open,
  low = high AS single
FROM numbered
WHERE to_at IS NOT NULL
