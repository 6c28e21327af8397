-- attack: homogeneity
-- title: An adversary who knows the class of a target names its most frequent sensitive value.
-- paper: Machanavajjhala et al., l-diversity: privacy beyond k-anonymity (2007), section 2.1: the homogeneity attack
-- parameter: confidence DECIMAL 0.000001 1 DEFAULT 1 -- the least share of a class at which its rows count as named
-- falls: yes -- the share of a value in a union is at most the greatest of its shares in the classes
-- reads: class_sensitive_value
-- bound: probabilistic_l_diversity 1 / $l -- the model itself
-- bound: alpha_k_anonymity $alpha -- the model itself
-- bound: recursive_l_diversity CASE WHEN $l > 1 THEN $c / ($c + 1) END -- r_1 < c (r_l + ...) and r_1 + r_l + ... <= n
-- bound: ck_safety $c -- no implication is needed to count the rows of a class
-- bound: privacy_skyline $c -- no knowledge is needed to count the rows of a class
-- prevents: distinct_l_diversity $l > 1 -- a class has another value, in however few rows
-- prevents: entropy_l_diversity $l > 1 -- a class of one value has the entropy 0
-- prevents: p_sensitive_k_anonymity $p > 1 -- a class has another value, in however few rows

-- statement: classes
SELECT class_id, targets, confidence, CASE WHEN confidence >= $confidence THEN targets ELSE 0 END AS succeeded
FROM (
  SELECT class_id, sum(n) AS targets, CAST(max(n) AS DOUBLE) / nullif(CAST(sum(n) AS DOUBLE), 0) AS confidence
  FROM class_sensitive_value
  GROUP BY class_id
) AS class
