-- Each row at its own place, and each counterfeit at the place of a random row of its region: row_no, signature, code,
-- region, draw, lies_at, the number of this row. A counterfeit is put into the class where that row would be put.
WITH known AS (
  SELECT region, row_no,
    row_number() OVER (PARTITION BY region ORDER BY draw ASC NULLS LAST, row_no ASC NULLS LAST) - 1 AS number,
    count(*) OVER (PARTITION BY region) AS n
  FROM near_row
  WHERE row_no IS NOT NULL
), counterfeit AS (
  SELECT signature, code, region, draw,
    row_number() OVER (PARTITION BY region ORDER BY draw ASC NULLS LAST, code ASC NULLS LAST) - 1 AS number
  FROM near_row
  WHERE row_no IS NULL
)
SELECT row_no, signature, code, region, draw, row_no AS lies_at FROM near_row WHERE row_no IS NOT NULL
UNION ALL
SELECT NULL AS row_no, c.signature, c.code, c.region, c.draw, k.row_no AS lies_at
FROM counterfeit AS c
JOIN known AS k ON k.region = c.region AND k.number = c.number % k.n
