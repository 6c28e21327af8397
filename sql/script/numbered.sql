-- The rows of each value, numbered from 0 in the order of their draws: value, the {columns}, rank.
--
-- drawn_row: value, the {columns}, draw. Three rows of one value have the ranks 0, 1 and 2.
SELECT value, {columns},
  CAST(row_number() OVER (PARTITION BY value ORDER BY draw ASC NULLS LAST) - 1 AS BIGINT) AS rank
FROM drawn_row
