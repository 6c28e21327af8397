-- model: beta_likeness
-- when: variant = enhanced
-- title: In no equivalence class does a sensitive value gain more than beta, or minus the logarithm of its share of the whole release, relative to that share.
-- paper: Cao and Karras, Publishing microdata with a robust privacy guarantee (2012)
-- parameter: beta DECIMAL 0.000001 1000000 -- the greatest relative gain (p - q) / q of a value, where -ln q is not less
-- required: at most beta
-- monotone: yes -- a value's share of a union lies between its shares of the parts
-- monotone under suppression: no -- a union of a satisfying class and another can violate
-- excess: size * max over the values of (p - q (1 + min(beta, -ln q)))
-- excess maximum: value by value, before taking the maximum: 1 - q (1 + min(beta, -ln q))
-- reads: equivalence_class, class_sensitive_value, sensitive_value

-- `achieved` is the least beta that would do, the largest (p - q) / q; infinity where a gain is beyond
-- -ln q, which no beta allows.
-- A value that the class lacks gains nothing. Against beta shares are compared as integers, exactly
-- below 2^53. Against -ln q no tolerance is needed: for a fraction q < 1 it is irrational, so that no
-- gain equals it, and for q = 1 the gain and the logarithm both are exactly 0.
-- The excess: for every value max(0, p - b) / (1 - b), with b = q (1 + min(beta, -ln q)) its greatest
-- share, is convex in p and at most 1, and so is the greatest of them. b <= q (1 - ln q) <= 1.

-- statement: achieved
WITH counted AS (
  SELECT value, CAST(n AS DOUBLE) AS n, CAST(sum(n) OVER () AS DOUBLE) AS total FROM sensitive_value
), baseline AS (
  SELECT value, n, total, n * (1 - ln(n / nullif(total, 0))) AS limit_of_logarithm FROM counted
), paired AS (
  SELECT CAST(s.n AS DOUBLE) * b.total AS own, b.n * CAST(c.size AS DOUBLE) AS expected,
    b.limit_of_logarithm * CAST(c.size AS DOUBLE) AS most
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  JOIN baseline AS b ON b.value = s.value
)
SELECT max(CASE WHEN own > most THEN CAST('infinity' AS DOUBLE)
  ELSE greatest((own - expected) / nullif(expected, 0), 0) END) AS achieved
FROM paired

-- statement: violations
WITH counted AS (
  SELECT value, CAST(n AS DOUBLE) AS n, CAST(sum(n) OVER () AS DOUBLE) AS total FROM sensitive_value
), baseline AS (
  SELECT value, n, total, n * (1 + least($beta, -ln(n / nullif(total, 0)))) AS high,
    n * (1 - ln(n / nullif(total, 0))) AS limit_of_logarithm
  FROM counted
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
    > CAST(b.n * CAST(c.size AS DOUBLE) AS DECIMAL(38, 0)) * ($beta_denominator + $beta_numerator)
  OR CAST(s.n AS DOUBLE) * b.total > b.limit_of_logarithm * CAST(c.size AS DOUBLE) THEN 1 ELSE 0 END) = 1
