-- model: beta_likeness
-- when: variant = basic (default)
-- title: In no equivalence class does a sensitive value gain more than beta, relative to its share of the whole release.
-- paper: Cao and Karras, Publishing microdata with a robust privacy guarantee (2012)
-- parameter: beta DECIMAL 0.000001 1000000 -- the greatest relative gain (p - q) / q of a value
-- required: at most beta
-- monotone: yes -- a value's share of a union lies between its shares of the parts
-- monotone under suppression: no -- a union of a satisfying class and another can violate
-- excess: size * max over the values of (p - q (1 + beta))
-- excess maximum: value by value, before taking the maximum: 1 - q (1 + beta)
-- reads: equivalence_class, class_sensitive_value, sensitive_value

-- A value that the class lacks gains nothing. (p - q) / q <= beta is p <= q (1 + beta): integers once
-- multiplied by the sizes of class and release and by beta's denominator, compared exactly below 2^53.
-- The excess: for every value max(0, p - q (1 + beta)) / (1 - q (1 + beta)) is convex in p and at most
-- 1, and so is the greatest of them. With q (1 + beta) >= 1 a value cannot gain too much.

-- statement: achieved
WITH baseline AS (
  SELECT value, CAST(n AS DOUBLE) AS n, CAST(sum(n) OVER () AS DOUBLE) AS total FROM sensitive_value
), paired AS (
  SELECT CAST(s.n AS DOUBLE) * b.total AS own, b.n * CAST(c.size AS DOUBLE) AS expected
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  JOIN baseline AS b ON b.value = s.value
)
SELECT max(greatest((own - expected) / nullif(expected, 0), 0)) AS achieved FROM paired

-- statement: violations
WITH baseline AS (
  SELECT value, CAST(n AS DOUBLE) AS n, CAST(sum(n) OVER () AS DOUBLE) AS total, CAST(n AS DOUBLE) * (1 + $beta) AS high
  FROM sensitive_value
)
SELECT s.class_id, max(c.size) AS size,
  least(max(CAST(c.size AS DOUBLE)),
    max(CASE WHEN b.total > b.high
      THEN greatest(CAST(s.n AS DOUBLE) * b.total - b.high * CAST(c.size AS DOUBLE), 0) / nullif(b.total - b.high, 0)
      ELSE 0 END)) AS excess
FROM class_sensitive_value AS s
JOIN equivalence_class AS c ON c.class_id = s.class_id
JOIN baseline AS b ON b.value = s.value
GROUP BY s.class_id
HAVING max(CASE WHEN CAST(CAST(s.n AS DOUBLE) * b.total AS DECIMAL(38, 0)) * $beta_denominator
    > CAST(b.n * CAST(c.size AS DOUBLE) AS DECIMAL(38, 0)) * ($beta_denominator + $beta_numerator) THEN 1 ELSE 0 END) = 1
