-- model: epsilon_privacy
-- when: prior = table
-- title: No sensitive value of an equivalence class is more than epsilon times as likely, or as unlikely, with a respondent's row in the release as without it, to an adversary whose prior distribution is a table.
-- paper: Machanavajjhala, Gehrke and Goetz, Data publishing against realistic adversaries (2009)
-- parameter: epsilon DECIMAL 1 1000000 -- the greatest ratio between an adversary's beliefs with and without the row
-- parameter: stubbornness DECIMAL 0 1000000 infinite -- the number of rows with as much influence on an adversary's belief as the prior
-- parameter: known BIGINT 0 1000000 DEFAULT 0 -- the number of rows of a class that an adversary knows to lack the value
-- parameter: ratios TEXT both|belief DEFAULT both -- whether only the ratio of the beliefs in a value is bounded, or also the ratio of the doubts
-- parameter: weights RELATION value weight -- a row for each value, and its share in the adversary's prior distribution
-- required: at most epsilon
-- monotone: no -- without stubbornness 2 rows of 3 have 4/3, 0 of 2 have nothing to show, and 2 of 5 have 8/5
-- monotone under suppression: no -- for the same reason
-- excess: 0: merging classes can create violations, so no excess is certain in advance
-- excess maximum: 1
-- joint: no -- a weight belongs to a value of one attribute
-- one row each: yes -- a belief is about the one value of a person
-- reads: equivalence_class, class_sensitive_value, value_range

-- As with the prior of the release, with the share that the table gives a value in place of m / N. A value that has no
-- share above 1e-12 was impossible to the adversary, and its ratio is infinite: a row that comes later violates.
-- A share is a DOUBLE, and a ratio is within epsilon up to one part in 1e12: a share of 0.1 is not the fraction 1/10.

-- statement: achieved
WITH counted AS (
  SELECT CAST(s.n AS DOUBLE) AS n, CAST(c.size AS DOUBLE) AS size, coalesce(r.low, 0) AS share,
    greatest(CAST(c.size AS DOUBLE) - CAST($known AS DOUBLE), CAST(s.n AS DOUBLE)) AS candidates,
    CAST($stubbornness_numerator AS DOUBLE) AS a, CAST($stubbornness_denominator AS DOUBLE) AS d
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  LEFT JOIN value_range AS r ON r.value = s.value
), belief AS (
  SELECT n, candidates, CASE WHEN share > 1e-12 THEN (n - 1) * d + a * share ELSE CAST(0 AS DOUBLE) END AS has,
    (size - n) * d + a * (1 - share) AS lacks, (size - 1) * d + a AS whole
  FROM counted
)
SELECT max(greatest(
  CASE WHEN has > 0 THEN n * whole / nullif(candidates * has, 0) ELSE CAST('infinity' AS DOUBLE) END,
  CASE WHEN $ratios = 'belief' THEN CAST(0 AS DOUBLE)
    WHEN candidates > n AND whole > 0 THEN lacks * candidates / nullif((candidates - n) * whole, 0)
    ELSE CAST('infinity' AS DOUBLE) END)) AS achieved
FROM belief

-- statement: violations
WITH counted AS (
  SELECT s.class_id, c.size AS rows_of_class, CAST(s.n AS DOUBLE) AS n, CAST(c.size AS DOUBLE) AS size,
    coalesce(r.low, 0) AS share,
    greatest(CAST(c.size AS DOUBLE) - CAST($known AS DOUBLE), CAST(s.n AS DOUBLE)) AS candidates,
    CAST($stubbornness_numerator AS DOUBLE) AS a, CAST($stubbornness_denominator AS DOUBLE) AS d
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  LEFT JOIN value_range AS r ON r.value = s.value
), belief AS (
  SELECT class_id, rows_of_class, n, candidates,
    CASE WHEN share > 1e-12 THEN (n - 1) * d + a * share ELSE CAST(0 AS DOUBLE) END AS has,
    (size - n) * d + a * (1 - share) AS lacks, (size - 1) * d + a AS whole
  FROM counted
), ratio AS (
  SELECT class_id, rows_of_class, n * whole AS above, candidates * has AS below
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
    WHEN below <= 0 THEN 1
    WHEN above > below * $epsilon * (1 + CAST(1e-12 AS DOUBLE)) THEN 1
    ELSE 0 END) = 1
