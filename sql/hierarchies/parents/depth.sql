-- Each node with the number of its ancestors: node, depth. A node may be NULL.
SELECT edge.node, count(path.ancestor) AS depth
FROM "tree edge" AS edge
LEFT JOIN "tree ancestor" AS path ON path.node IS NOT DISTINCT FROM edge.node
GROUP BY edge.node
