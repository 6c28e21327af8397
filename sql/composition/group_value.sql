-- The number of rows of each code in the sets of groups: component, set_no, code, shown, n.
SELECT c.component, v.set_no, v.code, v.shown, v.n
FROM component AS c
JOIN small_group AS g ON g.component = c.component
JOIN set_value AS v ON v.set_no = c.set_no
ORDER BY c.component ASC NULLS LAST, v.set_no ASC NULLS LAST, v.code ASC NULLS LAST
