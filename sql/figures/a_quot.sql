-- title: The greatest absolute logarithm of a sensitive value's share in a class divided by its share in the release: over all values, and over the values that the class has.
-- paper: Brickell and Shmatikov, The cost of privacy (2008), section 4: A_quot, the delta of delta-disclosure privacy
-- falls: no -- the maximum over the values that a class has may rise, because a union has more values
-- reads: class_sensitive_value, sensitive_value

-- A value that a class lacks has the share 0 there, and its logarithm is infinite.

-- statement: figures
WITH baseline AS (
  SELECT value, CAST(n AS DOUBLE) AS n, sum(CAST(n AS DOUBLE)) OVER () AS total FROM sensitive_value
), class_size AS (
  SELECT class_id, CAST(sum(n) AS DOUBLE) AS size
  FROM class_sensitive_value
  GROUP BY class_id
), quotient AS (
  SELECT s.class_id, max(abs(ln(s.n * b.total / nullif(c.size * b.n, 0)))) AS greatest_present, sum(b.n) < max(b.total) AS lacks
  FROM class_sensitive_value AS s
  JOIN class_size AS c ON c.class_id = s.class_id
  JOIN baseline AS b ON b.value = s.value
  GROUP BY s.class_id
)
SELECT
  max(CASE WHEN lacks THEN CAST('Infinity' AS DOUBLE) ELSE greatest_present END) AS a_quot,
  max(greatest_present) AS a_quot_present
FROM quotient
