-- The signatures that there are, numbered, each with one of its classes.
SELECT key, row_number() OVER () AS signature, max(n) AS n, max(position) AS position, arg_max(class_no, position) AS class_no
FROM class_key
GROUP BY key
