-- model: k_map_estimated
-- title: The probability that an equivalence class of fewer than k people of the population has this many rows is at most alpha, estimated by a Poisson model of the sample.
-- paper: El Emam and Dankar, Protecting privacy using k-anonymity (2008): estimated, no bound
-- parameter: k BIGINT 1 1000 -- the least number of people of the population that a class may come from
-- parameter: sampling_fraction DECIMAL 0.000001 1 DEFAULT policy -- the share of the population that is in the source; by default the policy's SAMPLE FRACTION
-- parameter: alpha DECIMAL 0.000001 0.5 DEFAULT 0.05 -- the greatest probability with which a class of fewer people may have that many rows
-- parameter: distribution TEXT zero_truncated|poisson DEFAULT zero_truncated -- the distribution of the number of rows of a class of k people: Poisson, or Poisson without 0 rows
-- required: at most alpha
-- enough rows: k -- then k people of the class are in the sample
-- monotone: yes -- the probability falls with the respondents of a class, and a union has those of each part
-- monotone under suppression: yes -- a class keeps its respondents whatever rows are added
-- excess: size, for a class with too few respondents
-- excess maximum: 1
-- sample: yes -- it is about the population that the source is a sample of
-- reads: equivalence_class

-- The number X of rows of a class of k people is Poisson's with the mean sampling_fraction k, or the same given X > 0. A class of n
-- rows, fewer than k, may come from fewer than k people with a probability of at most P(X >= n), and satisfies where that is at most
-- alpha. A probability less than 1e-9 of it below alpha counts as above it.

-- shared: each statement begins with these relations
WITH digit AS (
  SELECT CAST(d AS DOUBLE) AS d FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS t(d)
), term AS (
  SELECT 100 * a.d + 10 * b.d + c.d AS n FROM digit AS a CROSS JOIN digit AS b CROSS JOIN digit AS c
), logarithm AS (
  SELECT n, n * ln($sampling_fraction * $k) - $sampling_fraction * $k
    - sum(CASE WHEN n > 0 THEN ln(n) ELSE 0 END) OVER (ORDER BY n ASC NULLS FIRST) AS log
  FROM term
), poisson AS (
  SELECT n, exp(log) AS p, sum(exp(log)) OVER (ORDER BY n ASC NULLS FIRST) AS below FROM logarithm
), chance AS (
  SELECT n, CASE WHEN n >= $k THEN 0 ELSE least(1, greatest(0, 1 - below + p)
    / CASE WHEN $distribution = 'poisson' THEN 1 ELSE 1 - exp(-$sampling_fraction * $k) END) END AS chance
  FROM poisson
)

-- statement: achieved
SELECT max(coalesce(t.chance, 0)) AS achieved
FROM equivalence_class AS c
LEFT JOIN chance AS t ON t.n = c.entities

-- statement: violations
SELECT c.class_id, c.size, CAST(c.size AS DOUBLE) AS excess
FROM equivalence_class AS c
JOIN chance AS t ON t.n = c.entities
WHERE t.chance > $alpha * (1 - 1e-9)
