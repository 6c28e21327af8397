-- The number of rows of each code in each set: set_no, code, shown, n.
SELECT s.set_no, v.code, v.shown, v.n
FROM known_set AS s
JOIN class_value AS v ON v.release = s.release AND v.class = s.class
