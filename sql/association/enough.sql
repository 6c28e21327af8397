-- The number of preferred blocks to dissolve until no value is in excess, and the number of values for which the blocks
-- suffice: one row.
--
-- excess: key, value, lack; preferred: block, number; holding: block, key, value. Dissolving a block adds its $size
-- rows to the rows that are left out; at most one of them has the value. So a value's lack falls by $size rows, or by k
-- fewer, $rest, if the block holds the value. No other value comes into excess.
SELECT max(number), count(*)
FROM (
  SELECT min(number) AS number
  FROM (
    SELECT *, CAST(sum(gain) OVER (PARTITION BY key, value ORDER BY number ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS gained
    FROM (
      SELECT excess.key, excess.value, excess.lack, block.number,
        CASE WHEN holding.block IS NULL THEN $size ELSE $rest END AS gain
      FROM excess
      CROSS JOIN preferred AS block
      LEFT JOIN holding ON block.block = holding.block AND excess.key = holding.key AND excess.value = holding.value
    ) AS gains
  ) AS reached
  WHERE gained >= lack
  GROUP BY key, value
) AS first
