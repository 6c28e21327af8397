-- model: spread
-- when: measure = range (default)
-- title: The greatest and the least sensitive number of every equivalence class differ by at least the given number.
-- paper: Zhang, Koudas, Srivastava and Yu, Aggregate query answering on anonymized tables (2007), the e of (k,e)-anonymity
-- parameter: least DECIMAL 0 1000000000000000 -- the least difference of the greatest and the least number of a class; of dates, in days
-- required: at least least
-- monotone: yes -- the range of a union holds those of its parts
-- monotone under suppression: yes -- a class keeps its greatest and its least number whatever rows are added
-- excess: size, for a class whose range is less
-- excess maximum: 1
-- joint: no -- a difference is defined for numbers only
-- reads: class_sensitive_value, sensitive_number
-- NULL, NaN and infinity are not numbers, and a class without numbers violates.
--
-- Whole numbers, decimals, dates and timestamps are compared exactly, by units. A difference of DOUBLEs is rounded.

-- statement: achieved
SELECT min(coalesce(units / nullif(unit, 0), approximate, 0)) AS achieved
FROM (
  SELECT s.class_id, CAST(max(v.whole) - min(v.whole) AS DOUBLE) AS units, CAST(max(v.unit) AS DOUBLE) AS unit,
    max(CASE WHEN v.number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308 THEN v.number END)
      - min(CASE WHEN v.number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308 THEN v.number END) AS approximate
  FROM class_sensitive_value AS s
  JOIN sensitive_number AS v ON v.value = s.value
  GROUP BY s.class_id
) AS class

-- statement: violations
SELECT class_id, size, CAST(size AS DOUBLE) AS excess
FROM (
  SELECT s.class_id, CAST(sum(s.n) AS BIGINT) AS size, max(v.whole) - min(v.whole) AS units, max(v.unit) AS unit,
    max(CASE WHEN v.number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308 THEN v.number END)
      - min(CASE WHEN v.number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308 THEN v.number END) AS approximate
  FROM class_sensitive_value AS s
  JOIN sensitive_number AS v ON v.value = s.value
  GROUP BY s.class_id
) AS class
WHERE NOT coalesce(units * $least_denominator >= unit * $least_numerator, approximate >= $least, false)
