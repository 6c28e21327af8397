-- The ways to assign the values of a class to its rows, numbered from 0 in each class: class_no, codes, number.
SELECT class_no, codes, row_number() OVER (PARTITION BY class_no ORDER BY codes ASC NULLS LAST) - 1 AS number
FROM arranged
