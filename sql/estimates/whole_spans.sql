-- The spans of labels that may represent any value: the whole axis. If the type lists its values, they are known.
--
-- everything: label. first_point and last_point are the ends of the axis.
SELECT
  label,
  first_point() AS low, 0 AS low_side,
  last_point() AS high, 1 AS high_side,
  $listed AS known, NOT $listed AS open_low, NOT $listed AS open_high, CAST(NULL AS VARCHAR) AS mask
FROM everything
