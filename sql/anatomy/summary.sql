-- The number of rows, the number of values, the rows of the most frequent value, and the entropy of the values: one
-- row. codes: value, n.
SELECT sum(n), count(*), max(n),
  ln(CAST(sum(n) AS DOUBLE)) - sum(CAST(n AS DOUBLE) * ln(CAST(n AS DOUBLE))) / nullif(CAST(sum(n) AS DOUBLE), 0)
FROM codes
