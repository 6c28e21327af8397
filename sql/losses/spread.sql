-- One row for each node: index, its withheld rows, and for each attribute their sum of (leaves below their label - 1).
--
-- withheld: index, class_id, size; leaves: attribute, level, {parts}, others, the nodes of each attribute's tree. $lists
-- are the parameters {names}, lists with an item for each node and attribute: the node's index, the attribute's, its level
-- and its masks of each word; and one item for each node with the attribute -1, for the rows alone. $words are the words
-- of the key in a class_id. A withheld class of 3 rows with the label 1*, which has 10 leaves, adds 3 and 27.
SELECT node.index, CAST(coalesce(sum(CASE WHEN node.attribute = -1 THEN withheld.size END), 0) AS HUGEINT) AS withheld,
  CAST(coalesce(sum(CASE WHEN node.attribute = $attributes THEN withheld.size * leaves.others END), 0) AS HUGEINT)
    AS "{sums}"
FROM (SELECT unnest(CAST($lists AS BIGINT[])) AS "{names}") AS node
LEFT JOIN withheld ON withheld.index = node.index
LEFT JOIN leaves ON leaves.attribute = node.attribute AND leaves.level = node.level
  AND ((($words) & {node.masks}) = {leaves.parts})
GROUP BY node.index
