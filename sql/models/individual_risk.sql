-- model: individual_risk
-- title: The risk that a row of a class is the person whom its values fit, estimated from the sampling weights by the model of Benedetti and Franconi, is at most max.
-- in words: as one model estimates from the sampling weights, a row identifies a person with a probability of at most {required}
-- paper: Benedetti and Franconi, Statistical and technological solutions for controlled data dissemination (1998): estimated, no bound
-- parameter: max DECIMAL 0.001 1 -- the greatest estimated probability that a row of a class is the person whom its values fit
-- required: at most max
-- monotone: yes -- the risk of a union is at most that of each of its parts, as shown below
-- monotone under suppression: yes -- an added row represents one person or more
-- excess: size, for a class whose risk is above max
-- excess maximum: 1
-- joint: no -- a weight is one number
-- one row each: yes -- a weight is of a row, and the row is a person
-- weights: yes -- the column is the SAMPLING WEIGHT of the policy
-- sample: yes -- it is about the population that the source is a sample of
-- reads: class_sensitive_value, sensitive_number

-- A class has `size` rows, and `people` is the sum of their weights. With p = size / people the number F of people of the
-- population in the class is negative binomial, F >= size, and the risk is the mean of 1 / F (Benedetti and Franconi), which is
--   the integral of u^(size - 1) / (1 + r u) over u from 0 to 1, with r = people / size - 1.
-- With u = v^(1 / size) it is the integral of 1 / (size + (people - size) v^(1 / size)) over v from 0 to 1. The denominator grows
-- with size, as v^(1 / size) does, and with people - size. So the risk never grows if classes are merged, or if a row with a weight of
-- 1 or more is added, and it is at most 1 / size.
--
-- If r < 1 or size >= 16, it is computed as p / size times the sum of n! size! / (n + size)! (1 - p)^n over n = 0 .. 60; the terms
-- that are left out are less than 1e-15 together. Otherwise it is integrated by parts: (-1)^(size - 1) (log(1 + r) / r^size + the sum
-- of (-1)^n r^(n - size) / n over n = 1 .. size - 1). A risk that is below max by less than 1e-9 of the risk counts as above max, so
-- that rounding never satisfies the model.
-- A class with a weight that is NULL, below 1 or not finite violates.

-- shared: each statement begins with these relations
WITH weighed AS (
  SELECT s.class_id, s.n, coalesce(CAST(v.whole AS DOUBLE) / nullif(CAST(v.unit AS DOUBLE), 0),
    CASE WHEN v.number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308 THEN v.number END) AS weight
  FROM class_sensitive_value AS s
  JOIN sensitive_number AS v ON v.value = s.value
), class AS (
  SELECT class_id, CAST(sum(n) AS BIGINT) AS size, CAST(sum(n) AS DOUBLE) AS f, sum(CAST(n AS DOUBLE) * weight) AS people,
    sum(CASE WHEN weight >= 1 THEN 0 ELSE 1 END) AS wrong
  FROM weighed
  GROUP BY class_id
), digit AS (
  SELECT CAST(d AS DOUBLE) AS d, CAST(sign AS DOUBLE) AS sign
  FROM (VALUES (0, 1), (1, -1), (2, 1), (3, -1), (4, 1), (5, -1), (6, 1), (7, -1)) AS t(d, sign)
), term AS (
  SELECT 8 * a.d + b.d AS n, b.sign FROM digit AS a CROSS JOIN digit AS b WHERE 8 * a.d + b.d <= 60
)

-- statement: achieved
, likely AS (
  SELECT f, min(people) AS people FROM class WHERE wrong = 0 GROUP BY f
), coefficient AS (
  SELECT likely.f, term.n, term.sign, sum(CASE WHEN term.n > 0 THEN ln(term.n / (likely.f + term.n)) ELSE 0 END)
    OVER (PARTITION BY likely.f ORDER BY term.n ASC NULLS FIRST) AS factor
  FROM likely
  CROSS JOIN term
), risk AS (
  SELECT c.f, sum(CASE
      WHEN c.people < 2 * c.f OR c.f >= 16
        THEN CASE WHEN x.n = 0 THEN 1 WHEN c.people > c.f THEN exp(x.factor + x.n * ln(1 - c.f / c.people)) ELSE 0 END / c.people
      WHEN x.n = 0 THEN -even.sign * ln(c.people / c.f) * exp(-c.f * ln(c.people / c.f - 1))
      WHEN x.n < c.f THEN -even.sign * x.sign * exp((x.n - c.f) * ln(c.people / c.f - 1)) / x.n
      ELSE 0 END) AS risk
  FROM likely AS c
  JOIN coefficient AS x ON x.f = c.f
  LEFT JOIN term AS even ON even.n = c.f
  GROUP BY c.f
)
SELECT max(CASE WHEN class.wrong > 0 THEN CAST('infinity' AS DOUBLE) ELSE risk.risk END) AS achieved
FROM class
LEFT JOIN risk ON risk.f = class.f

-- statement: violations
, likely AS (
  SELECT class_id, f, people FROM class WHERE wrong = 0 AND f * $max < 1
), coefficient AS (
  SELECT size.f, term.n, term.sign, sum(CASE WHEN term.n > 0 THEN ln(term.n / (size.f + term.n)) ELSE 0 END)
    OVER (PARTITION BY size.f ORDER BY term.n ASC NULLS FIRST) AS factor
  FROM (SELECT DISTINCT f FROM likely) AS size
  CROSS JOIN term
), risk AS (
  SELECT c.class_id, sum(CASE
      WHEN c.people < 2 * c.f OR c.f >= 16
        THEN CASE WHEN x.n = 0 THEN 1 WHEN c.people > c.f THEN exp(x.factor + x.n * ln(1 - c.f / c.people)) ELSE 0 END / c.people
      WHEN x.n = 0 THEN -even.sign * ln(c.people / c.f) * exp(-c.f * ln(c.people / c.f - 1))
      WHEN x.n < c.f THEN -even.sign * x.sign * exp((x.n - c.f) * ln(c.people / c.f - 1)) / x.n
      ELSE 0 END) AS risk
  FROM likely AS c
  JOIN coefficient AS x ON x.f = c.f AND (c.people < 2 * c.f OR c.f >= 16 OR x.n < c.f)
  LEFT JOIN term AS even ON even.n = c.f
  GROUP BY c.class_id
)
SELECT class.class_id, class.size, CAST(class.size AS DOUBLE) AS excess
FROM class
LEFT JOIN risk ON risk.class_id = class.class_id
WHERE class.wrong > 0 OR (class.f * $max < 1 AND NOT coalesce(risk.risk <= $max * (1 - 1e-9), false))
