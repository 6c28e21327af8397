-- The spans of ranges along the axis: "[3, 5]" is from before 3 to behind 5.
--
-- ends: label, low, high (points), and `meant` for texts. $known tells whether all values of a span are equally likely.
SELECT
  label,
  low, 0 AS low_side,
  high, 1 AS high_side,
  $known AS known, false AS open_low, false AS open_high, CAST(NULL AS VARCHAR) AS mask
FROM ends
WHERE low IS NOT NULL AND high IS NOT NULL
