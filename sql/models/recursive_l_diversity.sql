-- model: l_diversity
-- when: variant = recursive
-- title: The most frequent sensitive value of a class has fewer than c times as many rows as the l-th most frequent and all rarer values together.
-- paper: Machanavajjhala et al., l-diversity: privacy beyond k-anonymity (2007), definition 4.2
-- parameter: l BIGINT 1 9223372036854775807 -- the rank, by frequency, from which on values are compared with the most frequent value
-- parameter: c DECIMAL 0.000001 1000000 -- the ratio of the rows of the most frequent value to the rows of all values from rank l on: it must stay below c
-- required: at most c
-- monotone: yes -- with r_1 >= r_2 >= ... a union's r_1 is at most, its r_l + ... + r_m at least, the sum of the classes'
-- monotone under suppression: no -- more rows with the most frequent value raise r_1
-- excess: size, for a class with fewer than l values; else r_1 - c (r_l + ... + r_m), if positive
-- excess maximum: 1
-- reads: class_sensitive_value
-- Achieved is r_1 / (r_l + ... + r_m) of the worst class, which has to be below c; infinity with fewer than l values.
-- Every class satisfies it with l = 1: achieved is 0 then.
--
-- Why the excess never grows when classes merge: where a union has fewer than l values so has each of its
-- classes, which then count in full; elsewhere r_1 is convex and r_l + ... + r_m (all rows less the l - 1 most
-- frequent values) concave in the counts, and both are homogeneous, so that r_1 - c (r_l + ... + r_m) of a union
-- is at most the sum over its classes. It is at most r_1, hence at most the size.

-- statement: achieved
SELECT max(CASE WHEN $l = 1 THEN CAST(0 AS DOUBLE) WHEN rarer = 0 THEN CAST('infinity' AS DOUBLE) ELSE most / nullif(rarer, 0) END) AS achieved
FROM (
  SELECT CAST(max(n) AS DOUBLE) AS most, sum(CASE WHEN place >= $l THEN CAST(n AS DOUBLE) ELSE 0 END) AS rarer
  FROM (
    SELECT class_id, n, row_number() OVER (PARTITION BY class_id ORDER BY n DESC NULLS LAST) AS place
    FROM class_sensitive_value
  ) AS ranked
  GROUP BY class_id
) AS class

-- statement: violations
SELECT class_id, size, CASE
    WHEN distinct_values < $l THEN CAST(size AS DOUBLE)
    ELSE (most * $c_denominator - rarer * $c_numerator) / $c_denominator
  END AS excess
FROM (
  SELECT class_id, CAST(sum(n) AS BIGINT) AS size, CAST(max(n) AS DOUBLE) AS most, count(*) AS distinct_values,
    sum(CASE WHEN place >= $l THEN CAST(n AS DOUBLE) ELSE 0 END) AS rarer
  FROM (
    SELECT class_id, n, row_number() OVER (PARTITION BY class_id ORDER BY n DESC NULLS LAST) AS place
    FROM class_sensitive_value
  ) AS ranked
  GROUP BY class_id
) AS class
WHERE $l > 1 AND CAST(most AS DECIMAL(38, 0)) * $c_denominator >= CAST(rarer AS DECIMAL(38, 0)) * $c_numerator
