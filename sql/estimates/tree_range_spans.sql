-- The spans of ranges in the order of a tree: spans of single values, and of ranges below one node of prefixes.
--
-- reading: label, low, high (points), below (whether the range is below one node), meant (whether a single value is
-- what the label means) and known (whether the values of the range are equally likely). $mask is the mask that the
-- texts of a range fit, NULL for numbers. Other ranges may represent any value, and whole_spans.sql makes their spans.
SELECT
  label,
  low, 0 AS low_side,
  high, 1 AS high_side,
  meant AS known, false AS open_low, false AS open_high, CAST(NULL AS VARCHAR) AS mask
FROM reading
WHERE low = high
UNION ALL
SELECT
  label,
  low, 0 AS low_side,
  high, 1 AS high_side,
  known, false AS open_low, false AS open_high, CAST($mask AS VARCHAR) AS mask
FROM reading
WHERE NOT low = high AND below
