-- The spans of the numbers without a place on the real line, for labels that may represent any number: NaN and both
-- infinities. everything: label.
SELECT
  label,
  at AS low, 0 AS low_side,
  at AS high, 1 AS high_side,
  false AS known, true AS open_low, true AS open_high, CAST(NULL AS VARCHAR) AS mask
FROM everything
CROSS JOIN (
  SELECT unnest([CAST('-inf' AS DOUBLE), CAST('inf' AS DOUBLE), CAST('nan' AS DOUBLE)]) AS at
) AS beyond
