-- model: spread
-- when: measure = deviation
-- title: The standard deviation of the sensitive numbers of every equivalence class is at least the given number.
-- paper: after Zhang, Koudas, Srivastava and Yu, Aggregate query answering on anonymized tables (2007), the standard deviation in place of the range
-- parameter: least DECIMAL 0 1000000000000000 -- the least standard deviation of the numbers of a class, over its rows; of dates, in days
-- required: at least least
-- monotone: yes -- the variance of a union is at least the mean of those of its parts
-- monotone under suppression: no -- more rows near the mean lower the variance
-- excess: size, for a class without numbers; else numbers * (least^2 - variance) / least^2
-- excess maximum: least^2
-- joint: no -- a standard deviation is defined for numbers only
-- reads: class_sensitive_value, sensitive_number
-- NULL, NaN and infinity are not numbers: the standard deviation is that of the other rows, and a class without numbers violates.
--
-- Whole numbers, decimals, dates and timestamps are compared exactly where the products have fewer than 38 digits: with
-- r rows, at distances d from the least number, r times the sum of d^2 less the square of the sum of d is r^2 times the
-- variance. DOUBLEs, classes of more digits, and all classes where more than 15 digits are required, satisfy if their variance is above
-- what is required by 1e-12 of it.
--
-- Why the excess never grows when classes merge: numbers * (v - variance) is numbers * v - sum of x^2 + (sum of x)^2 /
-- numbers, where the last part of a union is at most the sum of those of its parts, and all others are sums over rows. A
-- row that is left out lowers it by at most v, and a class without numbers adds nothing.

-- shared: each statement begins with these relations
WITH placed AS (
  SELECT s.class_id, s.n, v.whole, v.unit,
    CASE WHEN v.number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308 THEN v.number END AS number
  FROM class_sensitive_value AS s
  JOIN sensitive_number AS v ON v.value = s.value
), class AS (
  SELECT class_id, CAST(sum(n) AS BIGINT) AS size, max(unit) AS unit, min(whole) AS low, min(number) AS approximate_low,
    CAST(sum(CASE WHEN whole IS NOT NULL OR number IS NOT NULL THEN n END) AS DECIMAL(38, 0)) AS numbers,
    CAST(max(whole) - min(whole) AS DOUBLE) AS units
  FROM placed
  GROUP BY class_id
), shifted AS (
  SELECT placed.class_id, CAST(placed.n AS DOUBLE) AS n, coalesce(
      CAST(placed.whole - class.low AS DOUBLE) / nullif(CAST(class.unit AS DOUBLE), 0), placed.number - class.approximate_low
    ) AS distance
  FROM placed
  JOIN class ON class.class_id = placed.class_id
), mean AS (
  SELECT class_id, sum(n * distance) / nullif(sum(CASE WHEN distance IS NOT NULL THEN n END), 0) AS mean
  FROM shifted
  GROUP BY class_id
)

-- statement: achieved
, varied AS (
  SELECT shifted.class_id, sum(shifted.n * (shifted.distance - mean.mean) * (shifted.distance - mean.mean))
    / nullif(sum(CASE WHEN shifted.distance IS NOT NULL THEN shifted.n END), 0) AS variance
  FROM shifted
  JOIN mean ON mean.class_id = shifted.class_id
  GROUP BY shifted.class_id
)
SELECT min(coalesce(sqrt(variance), 0)) AS achieved
FROM varied

-- statement: violations
, varied AS (
  SELECT shifted.class_id, sum(shifted.n * (shifted.distance - mean.mean) * (shifted.distance - mean.mean))
    / nullif(sum(CASE WHEN shifted.distance IS NOT NULL THEN shifted.n END), 0) AS variance
  FROM shifted
  JOIN mean ON mean.class_id = shifted.class_id
  GROUP BY shifted.class_id
), exact AS (
  SELECT class_id, low, unit, numbers
  FROM class
  WHERE CAST(numbers AS DOUBLE) * units * CAST(numbers AS DOUBLE) * units
      * CAST($least_denominator AS DOUBLE) * CAST($least_denominator AS DOUBLE) < 1e37
    AND CAST(numbers AS DOUBLE) * CAST(unit AS DOUBLE) * CAST(numbers AS DOUBLE) * CAST(unit AS DOUBLE)
      * CAST($least_numerator AS DOUBLE) * CAST($least_numerator AS DOUBLE) < 1e37
    AND $least_numerator <= 9007199254740992 AND $least_denominator <= 9007199254740992
), total AS (
  SELECT placed.class_id, max(exact.numbers) AS numbers, max(exact.unit) AS unit,
    sum(CAST(placed.n AS DECIMAL(38, 0)) * (placed.whole - exact.low)) AS first,
    sum(CAST(placed.n AS DECIMAL(38, 0)) * (placed.whole - exact.low) * (placed.whole - exact.low)) AS second
  FROM placed
  JOIN exact ON exact.class_id = placed.class_id
  WHERE placed.whole IS NOT NULL
  GROUP BY placed.class_id
)
SELECT class.class_id, class.size, CASE
    WHEN varied.variance IS NULL THEN CAST(class.size AS DOUBLE)
    ELSE coalesce(CAST(class.numbers AS DOUBLE) * greatest($least * $least - varied.variance, 0) / nullif($least * $least, 0), 0)
  END AS excess
FROM class
JOIN varied ON varied.class_id = class.class_id
LEFT JOIN total ON total.class_id = class.class_id
WHERE varied.variance IS NULL
  OR CASE WHEN total.class_id IS NULL THEN varied.variance < $least * $least * (1 + 1e-12)
    ELSE (total.numbers * total.second - total.first * total.first) * $least_denominator * $least_denominator
      < ($least_numerator * total.numbers * total.unit) * ($least_numerator * total.numbers * total.unit) END
