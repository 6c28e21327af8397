-- All blocks numbered from 1, in the order of the number of values in excess that they hold, else at random: block,
-- number.
--
-- placed: the blocks of rows; holding: the table of holding.sql.
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
