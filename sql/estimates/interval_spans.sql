-- The spans of intervals: [20,30) is from before 20 to before 30, and [90,inf) has no end.
--
-- interval: the rows of interval.sql. point_up gives the first point of the axis at or behind a number, first_point and
-- last_point its ends. An interval without an end contains the greatest value of the type.
SELECT
  label,
  CASE WHEN low IS NULL THEN first_point() ELSE point_up(low) END AS low,
  0 AS low_side,
  CASE WHEN high IS NULL THEN last_point() ELSE point_up(high) END AS high,
  CASE WHEN high IS NULL THEN 1 ELSE 0 END AS high_side,
  low IS NOT NULL AND high IS NOT NULL AS known,
  low IS NULL AS open_low,
  high IS NULL AS open_high,
  CAST(NULL AS VARCHAR) AS mask
FROM interval
