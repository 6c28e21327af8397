-- The counts of each node that has a class: its index, classes, squares, size, excess, rows, violating.
--
-- equivalence_class: class_id, size, all classes of the nodes; `squares` is the sum of their squared sizes. broken:
-- index, size, excess, violating, the rows, the excess and the number of the violating classes of a node. node_row:
-- tag, the node's index, for each row that is counted. $index is the index in a class_id. Say node 3 has two classes of
-- 2 and 5 rows, the first of which violates with an excess of 1.0, and 6 rows in node_row: 3, 2, 29, 2, 1.0, 6, 1.
SELECT coalesce(all_classes.index, broken.index), coalesce(all_classes.classes, 0), coalesce(all_classes.squares, 0),
  coalesce(broken.size, 0), coalesce(broken.excess, 0), coalesce(node_rows.rows, 0), coalesce(broken.violating, 0)
FROM (
  SELECT $index AS index, count(*) AS classes, sum(size * size) AS squares FROM equivalence_class GROUP BY $index
) AS all_classes
FULL JOIN broken ON all_classes.index = broken.index
LEFT JOIN (SELECT tag, count(*) AS rows FROM node_row GROUP BY tag) AS node_rows
  ON node_rows.tag = coalesce(all_classes.index, broken.index)
