-- The signatures that there are, numbered, and how often a class has one of its values at the most.
SELECT key, row_number() OVER () AS signature, max(n) AS n FROM class_key GROUP BY key
