-- How many blocks have to be dissolved, the preferred ones first, and for how many values they suffice: one row.
--
-- excess: key, value, lack; preferred: block, number; holding: block, key, value. A block adds its $size rows to those
-- that are left out, at most one of which has the value. So what a value lacks becomes less by the block's rows, or by
-- k fewer, $rest, if the block holds the value. Other values never come to lack any.
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
