-- The rows of some nodes of a lattice, grouped from the rows of finer nodes: tag, {keys}, {entity}, n, {marks}.
--
-- rollup: tag, the number of a row's node, the words {keys} of its key, {entity}, n and {marks}. The parameters,
-- $lists, are lists with an item for each new node: its tag and its mask of each word, and with {source} the tag of the
-- finer node from which it is grouped; without {source} all rows are of one node. So with the lists [7], [0], [240] the
-- rows of tag 0 whose keys differ in the last four bits only become one row of tag 7.
SELECT node.tag, {fine.keys} & {node.masks} AS "{keys}", {fine.entity}, CAST(sum(fine.n) AS BIGINT) AS n, {fine.marks}
FROM rollup AS fine
JOIN (SELECT unnest(CAST($lists AS BIGINT[])) AS "{names}") AS node ON {fine.tag} = {node.source}
GROUP BY node.tag, {fine.keys} & {node.masks}, {fine.entity}, {fine.marks}
