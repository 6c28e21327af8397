-- The rows of some nodes, each with the node's index in place of its tag. rollup: tag, and the columns that are kept.
--
-- The parameters are two lists with an item for each node: its tag and its index. With [5, 9] and [0, 1] the rows of
-- the tags 5 and 9 get the tags 0 and 1.
SELECT node.index AS tag, fine.* EXCLUDE (tag)
FROM rollup AS fine
JOIN (SELECT unnest(CAST($1 AS BIGINT[])) AS of_tag, unnest(CAST($2 AS BIGINT[])) AS index) AS node
  ON fine.tag = node.of_tag
