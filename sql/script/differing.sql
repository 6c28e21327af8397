-- The combinations of {keys} that two tables do not contain equally often: class_id.
--
-- counted: the {keys} and n, positive for rows of one table and negative for those of the other. A combination that
-- occurs twice in the one and once in the other has the sum 1. $class_id is the number that a combination is reported
-- by.
SELECT $class_id AS class_id
FROM counted AS either
GROUP BY {keys}
HAVING sum(n) <> 0
