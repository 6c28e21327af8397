-- attack: background
-- title: An adversary who knows the class of a target, and some values that the target does not have, names the most frequent of the remaining values.
-- paper: Machanavajjhala et al., l-diversity: privacy beyond k-anonymity (2007), section 2.2: the background knowledge attack
-- parameter: values BIGINT 0 1000000 DEFAULT 1 -- the number of values that the target is known to lack
-- parameter: confidence DECIMAL 0.000001 1 DEFAULT 1 -- the least confidence at which the rows of a class count as named
-- falls: yes -- the worst of so many negations about the target: Martin et al., Worst-case background knowledge (2007), theorem 6
-- reads: class_sensitive_value, sensitive_value
-- undefined: only one value of the column remains after so many values are ruled out, whatever is published
-- bound: probabilistic_l_diversity CASE WHEN $values < $l THEN 1 / ($l - $values) END -- each value that is ruled out takes at most 1/l of the rows
-- bound: alpha_k_anonymity CASE WHEN $values * $alpha < 1 THEN least(1, $alpha / (1 - $values * $alpha)) END -- each value that is ruled out takes at most alpha of the rows
-- bound: recursive_l_diversity CASE WHEN $l > 1 AND $values <= $l - 2 THEN $c / ($c + 1) END -- r_l and all rarer values are left, and r_1 is below c times these
-- bound: ck_safety CASE WHEN $values <= $k THEN $c END -- "the target lacks a value" is an implication: if this value, then another value
-- bound: privacy_skyline CASE WHEN $values <= $l THEN $c END -- the knowledge of the model includes the values that the target lacks
-- prevents: distinct_l_diversity $l > $values + 1 -- at least two values are left
-- prevents: entropy_l_diversity $l > $values + 1 -- the entropy of n values is at most log(n)
-- prevents: p_sensitive_k_anonymity $p > $values + 1 -- at least two values are left

-- The confidence is greatest if the most frequent value is left, and the next values are ruled out: r_1 / (n - r_2 - ... - r_(v+1)).

-- statement: classes
SELECT class_id, targets, confidence,
  CASE WHEN confidence >= $confidence THEN targets WHEN confidence IS NOT NULL THEN 0 END AS succeeded
FROM (
  SELECT class_id, sum(n) AS targets, CAST(max(n) AS DOUBLE)
    / nullif(CAST(sum(CASE WHEN place = 1 OR place > $values + 1 THEN n ELSE 0 END) AS DOUBLE), 0)
    * CASE WHEN max(different) > $values + 1 THEN 1 END AS confidence
  FROM (
    SELECT class_id, n, row_number() OVER (PARTITION BY class_id ORDER BY n DESC NULLS LAST) AS place, different
    FROM class_sensitive_value
    CROSS JOIN (SELECT count(*) AS different FROM sensitive_value) AS column_value
  ) AS ranked
  GROUP BY class_id
) AS class
