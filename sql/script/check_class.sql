-- The classes of the written rows by their {keys}: each combination as {names}, with its number as class_id.
--
-- candidate: the {keys}; NULL is a value. ('a', 1), ('b', 1) and ('a', 1) are two classes, 1 and 2.
SELECT {keys} AS "{names}", row_number() OVER (ORDER BY {keys} ASC NULLS LAST) AS class_id
FROM candidate
GROUP BY {keys}
