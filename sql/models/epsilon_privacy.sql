-- model: epsilon_privacy
-- when: prior = release (default)
-- title: No sensitive value of an equivalence class is more than epsilon times as likely, or as unlikely, with a respondent's row in the release as without it.
-- paper: Machanavajjhala, Gehrke and Goetz, Data publishing against realistic adversaries (2009)
-- parameter: epsilon DECIMAL 1 1000000 -- the greatest ratio between an adversary's beliefs with and without the row
-- parameter: stubbornness DECIMAL 0 1000000 infinite -- the number of rows with as much influence on an adversary's belief as the prior
-- parameter: known BIGINT 0 1000000 DEFAULT 0 -- the number of rows of a class that an adversary knows to lack the value
-- parameter: ratios TEXT both|belief DEFAULT both -- whether only the ratio of the beliefs in a value is bounded, or also the ratio of the doubts
-- required: at most epsilon
-- monotone: no -- without stubbornness 2 rows of 3 have 4/3, 0 of 2 have nothing to show, and 2 of 5 have 8/5
-- monotone under suppression: no -- for the same reason
-- excess: 0: merging classes can create violations, so no excess is certain in advance
-- excess maximum: 1
-- one row each: yes -- a belief is about the one value of a person
-- reads: equivalence_class, class_sensitive_value, sensitive_value

-- The adversary's prior on the distribution of the values is a Dirichlet distribution whose mean is the distribution in
-- the whole release and whose weight is the stubbornness, a / d here. Of a class of `size` rows, n of which have the value
-- (m of the whole release's N), at most `known` others are known not to have it, which leaves `candidates` rows:
--   with the row     p_in  = n / candidates
--   without it       p_out = (n - 1 + stubbornness m / N) / (size - 1 + stubbornness)
-- The target has the value: any other target has a larger p_out. With q_out = 1 - p_out and q_in = 1 - p_in the ratios are
-- p_in / p_out and q_out / q_in. Multiplied by N and d, all parts are whole numbers: p_out = has / whole. lacks = whole - has is
-- summed separately, because a difference would lose digits. A ratio with a denominator of 0 is infinite, also 0 / 0. A stubbornness
-- of 'infinite' is a = 1 and d = 0.
-- A ratio that DOUBLEs cannot distinguish from epsilon is compared by whole numbers, which are products of three counts and of d.
-- If a product is above 9e15, which a DOUBLE may round, the class violates.

-- statement: achieved
WITH whole AS (
  SELECT CAST(sum(n) AS DOUBLE) AS total FROM sensitive_value
), counted AS (
  SELECT CAST(s.n AS DOUBLE) AS n, CAST(c.size AS DOUBLE) AS size, w.total, CAST(coalesce(v.n, 0) AS DOUBLE) AS m,
    greatest(CAST(c.size AS DOUBLE) - CAST($known AS DOUBLE), CAST(s.n AS DOUBLE)) AS candidates,
    CAST($stubbornness_numerator AS DOUBLE) AS a, CAST($stubbornness_denominator AS DOUBLE) AS d
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  CROSS JOIN whole AS w
  LEFT JOIN sensitive_value AS v ON v.value = s.value
), belief AS (
  SELECT n, candidates, (n - 1) * d * total + a * m AS has, (size - n) * d * total + a * (total - m) AS lacks,
    ((size - 1) * d + a) * total AS whole
  FROM counted
)
SELECT max(greatest(
  CASE WHEN has > 0 THEN n * whole / nullif(candidates * has, 0) ELSE CAST('infinity' AS DOUBLE) END,
  CASE WHEN $ratios = 'belief' THEN CAST(0 AS DOUBLE)
    WHEN candidates > n THEN lacks * candidates / nullif((candidates - n) * whole, 0)
    ELSE CAST('infinity' AS DOUBLE) END)) AS achieved
FROM belief

-- statement: violations
WITH whole AS (
  SELECT CAST(sum(n) AS DOUBLE) AS total FROM sensitive_value
), counted AS (
  SELECT s.class_id, c.size AS rows_of_class, CAST(s.n AS DOUBLE) AS n, CAST(c.size AS DOUBLE) AS size, w.total,
    CAST(coalesce(v.n, 0) AS DOUBLE) AS m,
    greatest(CAST(c.size AS DOUBLE) - CAST($known AS DOUBLE), CAST(s.n AS DOUBLE)) AS candidates,
    CAST($stubbornness_numerator AS DOUBLE) AS a, CAST($stubbornness_denominator AS DOUBLE) AS d
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  CROSS JOIN whole AS w
  LEFT JOIN sensitive_value AS v ON v.value = s.value
), belief AS (
  SELECT class_id, rows_of_class, n, candidates, (n - 1) * d * total + a * m AS has,
    (size - n) * d * total + a * (total - m) AS lacks, ((size - 1) * d + a) * total AS whole
  FROM counted
), ratio AS (
  SELECT class_id, rows_of_class, n * whole AS above, CASE WHEN has > 0 THEN candidates * has ELSE CAST(0 AS DOUBLE) END AS below
  FROM belief
  UNION ALL
  SELECT class_id, rows_of_class, lacks * candidates AS above, (candidates - n) * whole AS below
  FROM belief
  WHERE $ratios = 'both'
)
SELECT class_id, max(rows_of_class) AS size, CAST(0 AS DOUBLE) AS excess
FROM ratio
GROUP BY class_id
HAVING max(CASE
    WHEN below = 0 THEN 1
    WHEN above < below * $epsilon * (1 - CAST(1e-9 AS DOUBLE)) THEN 0
    WHEN above > below * $epsilon * (1 + CAST(1e-9 AS DOUBLE)) THEN 1
    WHEN greatest(above, below) > CAST(9e15 AS DOUBLE) THEN 1
    WHEN CAST(above AS DECIMAL(38, 0)) * $epsilon_denominator > CAST(below AS DECIMAL(38, 0)) * $epsilon_numerator THEN 1
    ELSE 0 END) = 1
