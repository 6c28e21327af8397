-- The rows of a policy: a part of it each, in the order of the parts' rows. parameter: $1 its name, in lower case as
-- identifiers are compared, by A to Z only
WITH letters(upper, lower) AS (SELECT 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
SELECT * EXCLUDE (row_number) FROM (
    SELECT 'policy' AS part, NULL AS position, p.rowid AS row_number, policy, source, query, bound, against,
        against_query, against_bound, pivoted, joined
    FROM anon.policy AS p, letters
    WHERE system.main.translate(policy, upper, lower) = $1
    UNION ALL BY NAME
    SELECT 'attribute' AS part, position, a.rowid AS row_number, attribute, role, hierarchy, min_level, max_level, weight,
        pseudonym, key_variable, related_table
    FROM anon.policy_attribute AS a, letters
    WHERE system.main.translate(policy, upper, lower) = $1
    UNION ALL BY NAME
    SELECT 'related table' AS part, position, r.rowid AS row_number, policy, related_table, source, query, key_column,
        bound
    FROM anon.policy_related_table AS r, letters
    WHERE system.main.translate(policy, upper, lower) = $1
    UNION ALL BY NAME
    SELECT 'requirement' AS part, position, q.rowid AS row_number, model, arguments
    FROM anon.policy_requirement AS q, letters
    WHERE system.main.translate(policy, upper, lower) = $1
    UNION ALL BY NAME
    SELECT 'constraint' AS part, position, c.rowid AS row_number, kind, attributes
    FROM anon.policy_constraint AS c, letters
    WHERE system.main.translate(policy, upper, lower) = $1
)
ORDER BY position ASC NULLS LAST, row_number ASC NULLS LAST
