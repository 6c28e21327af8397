-- All blocks numbered from 1: those first that hold the fewest of the values in excess, else in a random order.
--
-- placed: the blocks of rows; holding: that of holding.sql. Returns block, number.
SELECT block, row_number() OVER (ORDER BY values ASC NULLS LAST, drawn ASC NULLS LAST) - 1 + 1 AS number
FROM (
  SELECT *, $draw AS drawn
  FROM (
    SELECT placed.block, count(holding.value) AS values
    FROM (SELECT DISTINCT block FROM placed) AS placed
    LEFT JOIN holding ON placed.block = holding.block
    GROUP BY placed.block
  ) AS counted
) AS drawn
