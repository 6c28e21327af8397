-- The rows of all sets, including the new sets: set_no, code, shown, n. An exact part of a set has, of each code, the
-- lesser of the rows that the set and the part have.
SELECT set_no, code, shown, n FROM set_value
UNION ALL
SELECT n.set_no, v.code, v.shown, v.n - coalesce(t.n, 0) AS n
FROM new_set AS n
JOIN set_value AS v ON v.set_no = n.whole
LEFT JOIN (
  SELECT e.whole, e.family, w.code, sum(least(w.n, p.n)) AS n
  FROM exact AS e
  JOIN set_value AS w ON w.set_no = e.whole
  JOIN set_value AS p ON p.set_no = e.part AND p.code = w.code
  GROUP BY e.whole, e.family, w.code
) AS t ON t.whole = n.whole AND t.family = n.of_family AND t.code = v.code
WHERE n.part IS NULL AND v.n > coalesce(t.n, 0)
UNION ALL
SELECT n.set_no, v.code, v.shown, least(v.n, p.n) AS n
FROM new_set AS n
JOIN set_value AS v ON v.set_no = n.whole
JOIN set_value AS p ON p.set_no = n.part AND p.code = v.code
