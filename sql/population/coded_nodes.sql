-- The large nodes above each value: value, code, the most specific of them, and the node of each level as {at}.
--
-- tree: value and the labels that $same compares; nodes: node, level and the labels. A level at which no node above the
-- value is large has NULL. Node 3 at level 0 and node 5 at level 2 give the code 3 and the nodes 3, NULL and 5.
SELECT tree.value, coalesce("{at}".node) AS code, "{at}".node AS "{at}"
FROM tree
LEFT JOIN (SELECT * FROM "{nodes}" WHERE level = $levels) AS "{at}" ON $same
