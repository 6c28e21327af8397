-- model: alpha_k_anonymity
-- title: Every equivalence class holds at least k respondents, and no sensitive value makes up more than alpha of it.
-- paper: Wong et al., (alpha, k)-anonymity: an enhanced k-anonymity model for privacy preserving data publishing (2006)
-- parameter: alpha DECIMAL 0.000001 1 -- the greatest share of one value in a class
-- parameter: k BIGINT 1 9223372036854775807 -- the least number of respondents of a class
-- required: at most alpha
-- least rows: k -- each respondent has at least one row
-- monotone: yes -- a union holds the respondents of its classes, and a value's share in it is at most the greatest of theirs
-- monotone under suppression: no -- more rows with a frequent value raise its share
-- several values: no -- the model also bounds the number of respondents, and respondents without values are in no class of values
-- overlapping classes: yes -- each class is judged by its own respondents and shares
-- excess: size, for a class with fewer than k respondents or 1/alpha values; else size * (max p - alpha) / (1 - alpha)
-- excess maximum: 1 - alpha
-- reads: equivalence_class, class_sensitive_value
-- achieved is the greatest share, max p of the worst class. A class with fewer than k respondents violates, but does not change achieved.
--
-- Why the excess never grows when classes merge: where a union is short of k respondents or of 1/alpha values, so
-- is each of its classes, and each counts in full; elsewhere size times the positive part of (max p - alpha), convex
-- in the shares, is at most the sum over the classes, which loses nothing where one of them counts in full instead.

-- statement: achieved
SELECT max(most / CAST(equivalence_class.size AS DOUBLE)) AS achieved
FROM equivalence_class
INNER JOIN (
  SELECT class_id, CAST(max(n) AS DOUBLE) AS most, CAST(count(*) AS DOUBLE) AS distinct_values
  FROM class_sensitive_value
  GROUP BY class_id
) AS class ON class.class_id = equivalence_class.class_id

-- statement: violations
SELECT equivalence_class.class_id, equivalence_class.size, CASE
    WHEN equivalence_class.entities < $k THEN CAST(equivalence_class.size AS DOUBLE)
    WHEN CAST(distinct_values AS DECIMAL(38, 0)) * $alpha_numerator < $alpha_denominator
      THEN CAST(equivalence_class.size AS DOUBLE)
    ELSE (most * $alpha_denominator - CAST(equivalence_class.size AS DOUBLE) * $alpha_numerator)
      / nullif($alpha_denominator - $alpha_numerator, 0)
  END AS excess
FROM equivalence_class
INNER JOIN (
  SELECT class_id, CAST(max(n) AS DOUBLE) AS most, CAST(count(*) AS DOUBLE) AS distinct_values
  FROM class_sensitive_value
  GROUP BY class_id
) AS class ON class.class_id = equivalence_class.class_id
WHERE equivalence_class.entities < $k
  OR CAST(most AS DECIMAL(38, 0)) * $alpha_denominator > CAST(equivalence_class.size AS DECIMAL(38, 0)) * $alpha_numerator
