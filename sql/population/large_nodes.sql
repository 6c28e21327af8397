-- The large nodes of one level: level, the {lower} columns, NULL, the {labels} from the level up, and label, its text.
--
-- {rows}: the {labels}, $support, the rows of a node, leaves and child_leaves, the leaves of the node and of its
-- largest child. A node is large if it has $least rows and satisfies the {bounds} of its leaves, such as fewer than
-- all. The value 'a' of 30 rows is a node of level 0 if $least is 20.
SELECT $level AS level, NULL AS "{lower}", {labels}, coalesce($name, 'NULL') AS label
FROM "{rows}"
WHERE $support >= $least AND {bounds}
