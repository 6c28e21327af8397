-- The rows with the block that each fills, of $size rows, where no table has an order: {columns}, block, NULL without
-- one.
--
-- keyed: the rows, each with a random text (row); starts: value, first, spread, all_spread, blocks, turn, divided;
-- part: value, beginning, before, the rows of a divided value whose texts begin lower. The number of a row among the
-- rows with its value follows from the order of their texts.
SELECT {turned.columns}, CASE WHEN rank < spread AND moved < blocks * $size THEN CAST(moved % blocks + 1 AS BIGINT) END AS block
FROM (
  SELECT *, (first + rank + turn) % all_spread AS moved
  FROM (
    SELECT numbered.*, numbered.number + coalesce(part.before, 0) AS rank
    FROM (
      SELECT *, row_number() OVER (PARTITION BY value, beginning ORDER BY row ASC NULLS LAST) - 1 AS number
      FROM (
        SELECT {keyed.columns}, start.value, start.first, start.spread, start.all_spread, start.blocks, start.turn,
          CASE WHEN start.divided THEN $beginning ELSE '' END AS beginning
        FROM keyed
        JOIN starts AS start ON start.value = {keyed.key}
      ) AS parted
    ) AS numbered
    LEFT JOIN part ON numbered.value = part.value AND numbered.beginning = part.beginning
  ) AS ranked
) AS turned
