-- The spans of whole numbers, each once, cut at the ends of the column's type.
--
-- all_spans: label, low, low_side, high, high_side, known, open_low, open_high, mask. In a TINYINT, -128 to 127, a span
-- from 120 to 130 ends behind 127.
SELECT
  label,
  CASE WHEN low < first_point() THEN first_point() ELSE low END AS low,
  CASE WHEN low < first_point() THEN 0 ELSE low_side END AS low_side,
  CASE WHEN high > last_point() THEN last_point() ELSE high END AS high,
  CASE WHEN high > last_point() THEN 1 ELSE high_side END AS high_side,
  known, open_low, open_high, mask
FROM (SELECT DISTINCT * FROM all_spans) AS span
WHERE low <= last_point() AND high >= first_point()
