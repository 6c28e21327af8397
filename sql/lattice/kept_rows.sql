-- The rows that the rollup keeps of some nodes, whose tags begin with $1: tag, {keys}, {entity}, n, satisfied.
--
-- fresh: the rows of the nodes, with their indexes as tags; classes: class_id, size, satisfied. All rows of a class
-- that violates are kept; of any other class one row of the class's size is kept, marked as satisfied, without a
-- respondent. $class_id is the class of a row; $words and $index are the words of the key in a class_id and the node's
-- index there.
SELECT tag + $1 AS tag, {keys}, {entity}, n, FALSE AS satisfied
FROM fresh
WHERE $class_id IN (SELECT class_id FROM classes WHERE NOT satisfied)
UNION ALL
SELECT ($index) + $1 AS tag, ($words) & $masks AS "{keys}", NULL AS "{entity}", size AS n, TRUE AS satisfied
FROM classes
WHERE satisfied
