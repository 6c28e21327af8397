-- The ways of each class, numbered from 0.
SELECT class_no, codes, row_number() OVER (PARTITION BY class_no ORDER BY codes ASC NULLS LAST) - 1 AS number
FROM arranged
