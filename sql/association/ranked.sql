-- The rows of the pool and those that are left out already, each with its place among the rows of its values.
--
-- pool, chosen: {columns}, {keys}. Returns {columns}, taken (1 for a chosen row), and {ranks}: the rank of a row in a key
-- counts the chosen rows with its value there, and those of the pool whose random number, draw, is less. With one chosen
-- row of value 7 and two in the pool, these have the ranks 1 and 2.
SELECT *, row_number() OVER (PARTITION BY {keys}
  ORDER BY -taken ASC NULLS LAST, draw ASC NULLS LAST, row ASC NULLS LAST) - 1 AS "{ranks}"
FROM (SELECT {columns}, 0 AS taken FROM pool UNION ALL SELECT {columns}, 1 AS taken FROM chosen) AS row
