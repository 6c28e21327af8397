-- The classes by all columns within the violating classes of a set: class_id, size, and excess, at most the size.
--
-- {classes}: {set}, class_id, size; violation: class_id, the number of a class by the set, and excess, which may be
-- NULL. A class of 3 rows in a violating class with the excess 5 has the excess 3.
SELECT class.class_id, class.size, least(violation.excess, class.size) AS excess
FROM "{classes}" AS class
JOIN violation ON {class.set} = violation.class_id
