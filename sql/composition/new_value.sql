-- The rows of all sets, those of the new ones among them.
SELECT set_no, code, shown, n FROM set_value
UNION ALL
SELECT n.set_no, v.code, v.shown, v.n - coalesce(p.n, 0) AS n
FROM new_set AS n
JOIN set_value AS v ON v.set_no = n.whole
LEFT JOIN set_value AS p ON p.set_no = n.part AND p.code = v.code
WHERE v.n > coalesce(p.n, 0)
