-- guarding_node(node, value): the values of the source below each guarding node.
-- `*`, and a text that is not a label, guard against every value, because an unknown node may represent any value.
-- tables: coded(guard, node), meant(node, code, level, highest) as guard_label.sql makes it, paths(code, ...)
SELECT node, code AS value FROM meant WHERE level = highest AND NOT code IS NULL
UNION
SELECT coded.node, path.code AS value
FROM coded
CROSS JOIN paths AS path
WHERE NOT path.code IS NULL AND NOT coded.node IN (SELECT node FROM meant)
