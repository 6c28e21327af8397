-- The rows of each region in its two halves: row_no, signature, code, draw, region, {positions}.
--
-- regions: the rows with their region, and their {positions}, one for each of $attributes, or NULL for counterfeits;
-- turn: region and the attribute in which it is cut. Of the rows with one value the first half, by their position in
-- that attribute and then by their random numbers, is in region 2 r, the second half in 2 r + 1. A region of one class
-- becomes its own second half.
SELECT row.row_no, row.signature, row.code, row.draw,
  row.region * 2 + CAST((row_number() OVER (PARTITION BY row.region, row.code
    ORDER BY CASE WHEN turn.attribute = $attributes THEN {row.positions} END ASC NULLS LAST, row.draw ASC NULLS LAST,
      row.row_no ASC NULLS LAST) * 2 > count(*) OVER (PARTITION BY row.region, row.code)) AS BIGINT) AS region,
  {row.positions}
FROM regions AS row
JOIN turn ON row.region = turn.region
