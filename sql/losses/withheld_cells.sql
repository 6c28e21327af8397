-- The cells of the withheld classes of some nodes: index, {keys}, n. A key has only the bits of its values here.
--
-- cells: {keys}, n; withheld: index, class_id. $lists are the parameters {names}, lists with an item for each node: its
-- index and its mask of each word. $values are the masks of the values in each word of a key; $words are the words of the
-- key in a class_id, which has the index of the node, too.
SELECT fine.index, {fine.keys}, fine.n
FROM (
  SELECT node.index, ({cell.keys} & {node.masks}) AS "{labels}", ({cell.keys} & $values) AS "{keys}", cell.n
  FROM cells AS cell
  CROSS JOIN (SELECT unnest(CAST($lists AS BIGINT[])) AS "{names}") AS node
) AS fine
JOIN withheld ON fine.index = withheld.index AND ({fine.labels} = (($words) & $values))
