-- The number of blocks of $size rows with different keys that each chunk fills, and that the chunks before it fill
-- (base).
--
-- counts: chunk, value, n. If g blocks are filled, at most g rows of a value are used; so g is the greatest number with
-- g (size - j) <= the rows without the j most frequent values, for all j < size. A row with the value 0 differs from
-- every other row. Returns chunk, blocks, base, without the chunks that fill no block.
WITH ranked AS (
  SELECT chunk,
    row_number() OVER (PARTITION BY chunk ORDER BY n DESC NULLS LAST, value ASC NULLS LAST) AS rank,
    CAST(sum(n) OVER (PARTITION BY chunk ORDER BY n DESC NULLS LAST, value ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS top
  FROM counts
  WHERE value > 0
), total AS (
  SELECT chunk, CAST(sum(n) AS BIGINT) AS rows, CAST(sum(CASE WHEN value > 0 THEN 1 ELSE n END) AS BIGINT) AS different
  FROM counts
  GROUP BY chunk
), filled AS (
  SELECT total.chunk, CAST(CASE WHEN max(total.different) >= $size THEN least(max(total.rows) // $size, coalesce(
    min(CASE WHEN ranked.rank < $size THEN (total.rows - ranked.top) // ($size - ranked.rank) END),
    max(total.rows) // $size)) ELSE 0 END AS BIGINT) AS blocks
  FROM total
  LEFT JOIN ranked ON total.chunk = ranked.chunk
  GROUP BY total.chunk
)
SELECT *, CAST(sum(blocks) OVER (ORDER BY chunk ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT)
  - blocks AS base
FROM filled
WHERE blocks > 0
