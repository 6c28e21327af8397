-- model: delta_disclosure
-- title: In no equivalence class is a sensitive value e^delta times as frequent, or as rare, as in the whole release.
-- paper: Brickell and Shmatikov, The cost of privacy: destruction of data-mining utility in anonymized data publishing (2008)
-- also called: semantic_privacy, delta_disclosure_privacy
-- parameter: delta DECIMAL 0.000001 100 -- the bound below which |ln(p/q)| must stay
-- parameter: absent TEXT violates|ignored DEFAULT violates -- the treatment of a value that occurs in the release but not in the class
-- required: at most delta
-- monotone: no -- with absent => 'violates' a union of satisfying classes satisfies; with 'ignored' adding a class that lacks a value can make it too rare
-- monotone under suppression: no -- a union of a satisfying class and another can violate
-- excess: size, for a class whose values have less than e^-delta of the release; else size * max over the values of (p - q e^delta) and, unless absent values are ignored, (q e^-delta - p)
-- excess maximum: value by value, before taking the maximum: 1 - q e^delta and q e^-delta
-- reads: equivalence_class, class_sensitive_value, sensitive_value

-- Natural logarithms: what ARX calls delta, in base 2 and with absent values ignored, is delta * ln 2
-- with absent => 'ignored' here.
-- e^delta is irrational for every rational delta > 0, so p = q e^delta never holds. Where rounding, of at most
-- 1e-13 of a side for delta up to 100, cannot tell, the class violates.
-- The excess: for every value max((p - q e^delta) / (1 - q e^delta), (q e^-delta - p) / (q e^-delta), 0)
-- is convex in p and at most 1, and so is the greatest of them; a class that lacks a value reaches 1.
-- Where the q e^delta of the values that a class has add up to less than 1, one p is above its q e^delta: the class
-- violates and counts in full. Where a union is such a class so are all of its classes, which have no other values; and
-- elsewhere the union's excess is the convex one, at most the sum over its classes whether they count in full or not.
-- With absent => 'ignored' a class without a value and one with just enough of it exceed by nothing,
-- and their union can have too little: no lower side may count then, only p - q e^delta. A class with
-- too little of a value then violates with an excess of 0.

-- statement: achieved
WITH baseline AS (
  SELECT value, CAST(n AS DOUBLE) AS n, CAST(sum(n) OVER () AS DOUBLE) AS total, count(*) OVER () AS number
  FROM sensitive_value
), ratio AS (
  SELECT s.class_id, count(*) AS present, max(b.number) AS number,
    max(abs(ln(CAST(s.n AS DOUBLE) * b.total / nullif(b.n * CAST(c.size AS DOUBLE), 0)))) AS logarithm
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  JOIN baseline AS b ON b.value = s.value
  GROUP BY s.class_id
)
SELECT max(CASE WHEN $absent = 'violates' AND present < number THEN CAST('infinity' AS DOUBLE) ELSE logarithm END)
  AS achieved
FROM ratio

-- statement: violations
WITH baseline AS (
  SELECT value, CAST(n AS DOUBLE) AS n, CAST(sum(n) OVER () AS DOUBLE) AS total, count(*) OVER () AS number,
    CAST(n AS DOUBLE) * exp($delta) AS high
  FROM sensitive_value
), paired AS (
  SELECT s.class_id, c.size, CAST(c.size AS DOUBLE) AS scale, CAST(s.n AS DOUBLE) * b.total AS own, b.n, b.high,
    b.total, b.number
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  JOIN baseline AS b ON b.value = s.value
), judged AS (
  SELECT class_id, max(size) AS size, max(scale) AS scale,
    CASE WHEN $absent = 'violates' AND count(*) < max(number) THEN 1 ELSE 0 END AS lacks,
    CASE WHEN sum(high) * (1 + 1e-9) < max(total) THEN 1 ELSE 0 END AS few,
    max(CASE WHEN own * (1 + 1e-13) >= high * scale OR own * exp($delta) <= n * scale * (1 + 1e-13) THEN 1 ELSE 0 END) AS violates,
    max(CASE WHEN total > high THEN (own - high * scale) / nullif(total - high, 0) ELSE 0 END) AS above,
    max(CASE WHEN $absent = 'violates' THEN scale - own * exp($delta) / nullif(n, 0) ELSE 0 END) AS below
  FROM paired
  GROUP BY class_id
)
SELECT class_id, size, CASE WHEN lacks = 1 OR few = 1 THEN scale ELSE least(scale, greatest(above, below, 0)) END AS excess
FROM judged
WHERE lacks = 1 OR violates = 1
