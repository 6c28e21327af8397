-- The nodes without children, with their depth: node, depth.
SELECT tip.node, tip.depth
FROM "tree depth" AS tip
WHERE NOT EXISTS (SELECT 1 FROM "tree edge" AS edge WHERE edge.parent = tip.node)
