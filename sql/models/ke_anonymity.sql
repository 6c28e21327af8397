-- model: ke_anonymity
-- title: Every equivalence class holds at least k different sensitive numbers, and the greatest and the least differ by at least e.
-- paper: Zhang, Koudas, Srivastava and Yu, Aggregate query answering on anonymized tables (2007), definition of (k,e)-anonymity
-- parameter: k BIGINT 1 1000000 -- the least number of different values of a class
-- parameter: e DECIMAL 0 1000000000000000 -- the least difference of the greatest and the least number of a class; of dates, in days
-- required: at least e
-- least rows: k -- k different values are those of k rows
-- monotone: yes -- a union has all values of its parts
-- monotone under suppression: yes -- a class keeps its values whatever rows are added
-- excess: size, for a class with fewer values or a lesser range
-- excess maximum: 1
-- joint: no -- a difference is defined for numbers only
-- reads: class_sensitive_value, sensitive_number
-- NULL is a value, as in l-diversity, but not a number; NaN and infinity are not numbers, either. A class without numbers
-- violates. achieved is the least range of the classes, whatever the number of their values.

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
  SELECT s.class_id, CAST(sum(s.n) AS BIGINT) AS size, count(*) AS distinct_values, max(v.whole) - min(v.whole) AS units,
    max(v.unit) AS unit,
    max(CASE WHEN v.number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308 THEN v.number END)
      - min(CASE WHEN v.number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308 THEN v.number END) AS approximate
  FROM class_sensitive_value AS s
  JOIN sensitive_number AS v ON v.value = s.value
  GROUP BY s.class_id
) AS class
WHERE distinct_values < $k
  OR NOT coalesce(units * $e_denominator >= unit * $e_numerator, approximate >= $e, false)
