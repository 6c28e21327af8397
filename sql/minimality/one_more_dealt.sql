-- Each way to assign values to the first rows of a class, extended by each value that the next row may have: class_no,
-- size, codes, remaining. Complete ways stay as they are.
SELECT a.class_no, a.size, list_append(a.codes, v.code) AS codes,
  list_concat(list_append(a.remaining[1:v.place - 1], a.remaining[v.place] - 1), a.remaining[v.place + 1:]) AS remaining
FROM arranged AS a
JOIN class_value AS v ON v.class_no = a.class_no
WHERE len(a.codes) < a.size AND a.remaining[v.place] > 0
UNION ALL
SELECT class_no, size, codes, remaining
FROM arranged
WHERE len(codes) = size
