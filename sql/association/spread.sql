-- The values of a column {near} with their share of a row's position on a Z-order curve (Morton 1966): value, bits.
--
-- rows: the rows with the column. A value's rank is scaled to $steps steps. $bits moves each bit of a step to its place
-- in the position, between the bits of other columns, so that the sum over the columns is the position. With 4 steps,
-- the values a and b of 2 rows each have the steps 0 and 2, and in the first of two columns the bits 0 and 4.
SELECT value, $bits AS bits
FROM (
  SELECT value, (CAST(sum(n) OVER (ORDER BY value ASC NULLS LAST) AS BIGINT) - n) * $steps
    // CAST(sum(n) OVER () AS BIGINT) AS step
  FROM (SELECT {near} AS value, count(*) AS n FROM rows GROUP BY {near}) AS counted
) AS stepped
