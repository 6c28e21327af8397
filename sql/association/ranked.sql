-- The rows of the pool and the rows already left out, each with its rank among the rows of its value in every key.
--
-- pool, chosen: {columns}, {keys}. Returns {columns}, taken (1 for a chosen row), and {ranks}: the rank of a row in a
-- key counts the chosen rows with its value, and the rows of the pool with its value and a lesser random number, draw.
-- With one chosen row of value 7 and two in the pool, the two have the ranks 1 and 2.
SELECT *, row_number() OVER (PARTITION BY {keys}
  ORDER BY -taken ASC NULLS LAST, draw ASC NULLS LAST, row ASC NULLS LAST) - 1 AS "{ranks}"
FROM (SELECT {columns}, 0 AS taken FROM pool UNION ALL SELECT {columns}, 1 AS taken FROM chosen) AS row
