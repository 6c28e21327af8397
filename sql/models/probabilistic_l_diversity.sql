-- model: l_diversity
-- when: variant = probabilistic
-- title: No sensitive value makes up more than 1/l of an equivalence class.
-- paper: Xiao and Tao, Anatomy: simple and effective privacy preservation (2006), definition 2
-- parameter: l DECIMAL 1 1000000 -- one value makes up at most 1/l of a class; may be fractional
-- required: at least l
-- monotone: yes -- the share of a value in a union is at most the greatest of its shares in the classes
-- monotone under suppression: no -- more rows with a frequent value raise its share
-- several values: yes -- the share of a value is that of the class's respondents who have it
-- overlapping classes: yes -- each class is judged by its own shares
-- excess: size, for a class with fewer than l values; else size * (max p - 1/l) / (1 - 1/l)
-- excess maximum: 1 - 1/l
-- reads: equivalence_class, class_sensitive_value
-- Achieved is 1 / max p of the worst class. Both statements count the same of each class, which is then counted once.
--
-- Why the excess never grows when classes merge: fewer than l values means max p > 1/l, and where a union has
-- fewer than l values so has each of its classes, which then count in full; elsewhere (max p - 1/l) is convex in
-- the shares and at most 1 - 1/l, so that size times its positive part is at most the sum over the classes.

-- statement: achieved
SELECT min(CAST(equivalence_class.size AS DOUBLE) / most) AS achieved
FROM equivalence_class
INNER JOIN (
  SELECT class_id, CAST(max(n) AS DOUBLE) AS most, CAST(count(*) AS DOUBLE) AS distinct_values
  FROM class_sensitive_value
  GROUP BY class_id
) AS class ON class.class_id = equivalence_class.class_id

-- statement: violations
SELECT equivalence_class.class_id, equivalence_class.size, CASE
    WHEN CAST(distinct_values AS DECIMAL(38, 0)) * $l_denominator < $l_numerator
      THEN CAST(equivalence_class.size AS DOUBLE)
    ELSE (most * $l_numerator - CAST(equivalence_class.size AS DOUBLE) * $l_denominator)
      / nullif($l_numerator - $l_denominator, 0)
  END AS excess
FROM equivalence_class
INNER JOIN (
  SELECT class_id, CAST(max(n) AS DOUBLE) AS most, CAST(count(*) AS DOUBLE) AS distinct_values
  FROM class_sensitive_value
  GROUP BY class_id
) AS class ON class.class_id = equivalence_class.class_id
WHERE CAST(most AS DECIMAL(38, 0)) * $l_numerator > CAST(equivalence_class.size AS DECIMAL(38, 0)) * $l_denominator
