-- The rows of each set: how many it has of each code.
SELECT s.set_no, v.code, v.shown, v.n
FROM known_set AS s
JOIN class_value AS v ON v.release = s.release AND v.class = s.class
