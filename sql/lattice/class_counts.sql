-- The counts of the classes of each node, in the columns of counts.sql; `rows`, the number of a node's rows, is 0 here.
--
-- classes: class_id, size, excess, satisfied, as judged_classes.sql returns them; $index is the node's index in a
-- class_id.
SELECT $index, count(*), sum(size * size), coalesce(sum(size) FILTER (WHERE NOT satisfied), 0),
  coalesce(sum(excess) FILTER (WHERE NOT satisfied), 0), 0, coalesce(count(*) FILTER (WHERE NOT satisfied), 0)
FROM classes
GROUP BY $index
