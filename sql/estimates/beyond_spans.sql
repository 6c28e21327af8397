-- The spans of the numbers that are not on the real line, NaN and both infinities, for labels that may represent any
-- number. everything: label.
SELECT
  label,
  at AS low, 0 AS low_side,
  at AS high, 1 AS high_side,
  false AS known, true AS open_low, true AS open_high, CAST(NULL AS VARCHAR) AS mask
FROM everything
CROSS JOIN (
  SELECT unnest([CAST('-inf' AS DOUBLE), CAST('inf' AS DOUBLE), CAST('nan' AS DOUBLE)]) AS at
) AS beyond
