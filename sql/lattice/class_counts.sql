-- One row for each node, with the columns of counts.sql; its number of rows is 0 here.
--
-- classes: class_id, size, excess, satisfied, those of judged_classes.sql; $index is the node's index in a class_id.
SELECT $index, count(*), sum(size * size), coalesce(sum(size) FILTER (WHERE NOT satisfied), 0),
  coalesce(sum(excess) FILTER (WHERE NOT satisfied), 0), 0, coalesce(count(*) FILTER (WHERE NOT satisfied), 0)
FROM classes
GROUP BY $index
