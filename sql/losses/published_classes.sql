-- One row for each node: index, its withheld rows, its published classes, and the sum of their squared sizes.
--
-- equivalence_class: class_id, size, the classes of the nodes; $index is the node's index in a class_id. withheld: index,
-- size. $indexes is the parameter with the list of indexes. Of classes of 2 and 5 rows the first of which is withheld:
-- index, 2, 1, 25. A class of the public table without a row here may violate a requirement, and is no published class.
SELECT node.index, coalesce(withheld_classes.rows, 0) AS rows,
  coalesce(all_classes.classes, 0) - coalesce(withheld_classes.classes, 0) AS classes,
  coalesce(all_classes.squares, 0) - coalesce(withheld_classes.squares, 0) AS squares
FROM (SELECT unnest(CAST($indexes AS BIGINT[])) AS index) AS node
LEFT JOIN (
  SELECT $index AS index, count(CASE WHEN size > 0 THEN 1 END) AS classes,
    CAST(coalesce(sum(size * size), 0) AS HUGEINT) AS squares
  FROM equivalence_class
  GROUP BY $index
) AS all_classes ON all_classes.index = node.index
LEFT JOIN (
  SELECT index, CAST(coalesce(sum(size), 0) AS HUGEINT) AS rows, count(CASE WHEN size > 0 THEN 1 END) AS classes,
    CAST(coalesce(sum(size * size), 0) AS HUGEINT) AS squares
  FROM withheld
  GROUP BY index
) AS withheld_classes ON withheld_classes.index = node.index
