-- The number of labels of an attribute that occur at a level, and the sum of their squared rows: $index, $level, two
-- numbers.
--
-- tree: a row for each value, with its rows n, and the ranks of its ancestors; {ranks} are the ranks that identify a
-- node at the level, and none at the top. A hierarchy may list values that do not occur. Labels of 2 and 3 rows: 2, 13.
SELECT $index, $level, count(n), CAST(coalesce(sum(n * n), 0) AS HUGEINT)
FROM (SELECT CAST(sum(n) AS HUGEINT) AS n FROM tree WHERE n > 0 GROUP BY {ranks}) AS labels
