-- The rows of a policy, one for each part of it, with the position and the number of the row, which order the parts.
-- parameter: $1 the policy's name with the letters A to Z in lower case, as identifiers are compared
SELECT NULL AS position, p.rowid AS row_number, 'policy' AS part, policy, source, query, bound, against,
    against_query, against_bound, pivoted, sample, joined
FROM anon.policy AS p
WHERE system.main.translate(policy, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = $1
UNION ALL BY NAME
SELECT position, a.rowid AS row_number, 'attribute' AS part, attribute, role, hierarchy, min_level, max_level, weight,
    pseudonym, key_variable, mask, sampling_weight, hide, related_table
FROM anon.policy_attribute AS a
WHERE system.main.translate(policy, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = $1
UNION ALL BY NAME
SELECT position, r.rowid AS row_number, 'related table' AS part, policy, related_table, source, query, key_column,
    bound
FROM anon.policy_related_table AS r
WHERE system.main.translate(policy, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = $1
UNION ALL BY NAME
SELECT position, q.rowid AS row_number, 'requirement' AS part, model, arguments
FROM anon.policy_requirement AS q
WHERE system.main.translate(policy, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = $1
UNION ALL BY NAME
SELECT position, c.rowid AS row_number, 'constraint' AS part, kind, attributes
FROM anon.policy_constraint AS c
WHERE system.main.translate(policy, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = $1
