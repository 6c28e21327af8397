-- The pairs of a node and each of its ancestors: node, ancestor. UNION removes repeated pairs, so cycles end.
SELECT node, parent AS ancestor
FROM "tree edge"
WHERE NOT parent IS NULL
UNION
SELECT path.node, edge.parent
FROM "tree ancestor" AS path
JOIN "tree edge" AS edge ON edge.node = path.ancestor
WHERE NOT edge.parent IS NULL
