-- The spans of labels that are single values: from before a point of the axis to behind it.
--
-- point: label, at (the point, NULL for a text that is no value). A label at 30 becomes 30, 0, 30, 1, true, false, ...
SELECT
  label,
  at AS low, 0 AS low_side,
  at AS high, 1 AS high_side,
  true AS known, false AS open_low, false AS open_high, CAST(NULL AS VARCHAR) AS mask
FROM point
WHERE at IS NOT NULL
