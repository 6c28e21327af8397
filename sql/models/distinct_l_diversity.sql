-- model: l_diversity
-- when: variant = distinct (default)
-- title: Every equivalence class holds at least l different sensitive values.
-- in words: at least {required} values of {attribute} among those that look alike
-- paper: Li et al., t-closeness (2007), section 2, after Machanavajjhala et al., l-diversity (2006); NULL counts as a value
-- parameter: l BIGINT 1 9223372036854775807 -- the least number of different values of a class
-- required: at least l
-- monotone: yes -- a union of classes holds the values of each of them
-- monotone under suppression: yes -- a class with l values keeps them whatever rows are added
-- several values: yes -- a value counts once, whoever has it
-- overlapping classes: yes -- each class is judged by its own values
-- excess: size, for a class with fewer than l values
-- excess maximum: 1
-- reads: class_sensitive_value

-- statement: achieved
SELECT min(distinct_values) AS achieved
FROM (SELECT count(*) AS distinct_values FROM class_sensitive_value GROUP BY class_id) AS class

-- statement: violations
SELECT class_id, CAST(sum(n) AS BIGINT) AS size, CAST(sum(n) AS DOUBLE) AS excess
FROM class_sensitive_value
GROUP BY class_id
HAVING count(*) < $l
