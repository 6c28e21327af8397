-- The different signatures: key, signature (a number), n (the greatest number of rows of one value in a class with it).
SELECT key, row_number() OVER () AS signature, max(n) AS n FROM class_key GROUP BY key
