-- model: l_diversity
-- when: variant = entropy
-- title: The entropy of the sensitive values of every equivalence class is at least log l.
-- paper: Machanavajjhala et al., l-diversity: privacy beyond k-anonymity (2007), definition 4.1
-- parameter: l DECIMAL 1 1000000 -- the least effective number of values of a class; may be fractional
-- required: at least l
-- monotone: yes -- entropy is concave, so a union's is at least the least of its classes'
-- monotone under suppression: no -- more rows with a frequent value lower the entropy
-- excess: size, for a class with fewer than l values; else size * (log l - H) / log l
-- excess maximum: log l
-- reads: class_sensitive_value
-- Achieved is exp(H) of the worst class, the number of equally frequent values with that entropy; for a class whose
-- values are equally frequent it is exactly their number.
--
-- H = log size - (sum of n log n) / size. Logarithms and the sum of m of them are rounded: a class satisfies if its
-- entropy is above log l by 1e-12 and m 2^-52 log size more (Higham, Accuracy and stability of numerical algorithms, 2002,
-- section 4.2), or if its values are equally frequent and by their number, which is compared exactly.
--
-- Why the excess never grows when classes merge: fewer than l values means H < log l, and where a union has
-- fewer than l values so has each of its classes, which then count in full; elsewhere (log l - H) is convex in
-- the shares and at most log l, so that size times its positive part is at most the sum over the classes.

-- statement: achieved
SELECT min(CASE WHEN most * distinct_values = size THEN CAST(distinct_values AS DOUBLE) ELSE exp(entropy) END) AS achieved
FROM (
  SELECT CAST(sum(n) AS BIGINT) AS size, count(*) AS distinct_values, max(n) AS most,
    ln(CAST(sum(n) AS DOUBLE)) - sum(CAST(n AS DOUBLE) * ln(CAST(n AS DOUBLE))) / CAST(sum(n) AS DOUBLE) AS entropy
  FROM class_sensitive_value
  GROUP BY class_id
) AS class

-- statement: violations
SELECT class_id, size, CASE
    WHEN CAST(distinct_values AS DOUBLE) < $l THEN CAST(size AS DOUBLE)
    ELSE coalesce(CAST(size AS DOUBLE) * greatest(ln($l) - 1e-12 - entropy, 0) / nullif(ln($l), 0), 0)
  END AS excess
FROM (
  SELECT class_id, CAST(sum(n) AS BIGINT) AS size, count(*) AS distinct_values, max(n) AS most,
    ln(CAST(sum(n) AS DOUBLE)) - sum(CAST(n AS DOUBLE) * ln(CAST(n AS DOUBLE))) / CAST(sum(n) AS DOUBLE) AS entropy
  FROM class_sensitive_value
  GROUP BY class_id
) AS class
WHERE entropy < ln($l) + 1e-12 + CAST(distinct_values AS DOUBLE) * 2.3e-16 * ln(CAST(size AS DOUBLE))
  AND (most * distinct_values <> size OR CAST(distinct_values AS DECIMAL(38, 0)) * $l_denominator < $l_numerator)
