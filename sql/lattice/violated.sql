-- The classes that violate a requirement, by node: requirement ($number), index, rows, classes, excess, smallest.
--
-- violation: class_id, size, excess; $index is the node's index in a class_id, and $entities the respondents of a
-- class. `smallest` is a struct of the class with the fewest respondents, then rows; of several the first in the order
-- of values. Classes of 2 and 3 rows of one node, without respondents: 0, index, 5, 2, excess, {entities: 0, size: 2,
-- class_id}.
SELECT $number AS requirement, $index AS index, CAST(coalesce(sum(size), 0) AS HUGEINT) AS rows, count(*) AS classes,
  sum(excess) AS excess, min({'entities': $entities, 'size': size, 'class_id': class_id}) AS smallest
FROM violation
GROUP BY $index
