-- The half of the incomplete blocks that has the fewest rows: block. open_block: block, rows and drawn, random bits.
SELECT block
FROM open_block
QUALIFY 2 * (row_number() OVER (ORDER BY "rows" ASC NULLS LAST, drawn ASC NULLS LAST) - 1) < count(*) OVER ()
