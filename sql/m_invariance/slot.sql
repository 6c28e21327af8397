-- Every row and every counterfeit with its value and the signature that it gets: row_no (NULL for a counterfeit),
-- signature (0 for a row that has none yet), code.
WITH numbered AS (
  SELECT row_no, code, row_number() OVER (PARTITION BY code ORDER BY draw ASC NULLS LAST, row_no ASC NULLS LAST) AS place
  FROM newcomer
), numbered_hole AS (
  SELECT signature, code,
    row_number() OVER (PARTITION BY code ORDER BY draw ASC NULLS LAST, signature ASC NULLS LAST, hole ASC NULLS LAST) AS place
  FROM hole
)
SELECT row_no, signature, code FROM source_row WHERE signature IS NOT NULL
UNION ALL
SELECT n.row_no, h.signature, h.code
FROM numbered_hole AS h
JOIN quota AS q ON q.code = h.code
LEFT JOIN numbered AS n ON n.code = h.code AND n.place = h.place AND h.place <= q.fillers
UNION ALL
SELECT n.row_no, 0 AS signature, n.code
FROM numbered AS n
JOIN quota AS q ON q.code = n.code
WHERE n.place > q.fillers
UNION ALL
SELECT NULL AS row_no, 0 AS signature, code
FROM (SELECT code, unnest(range(counterfeits)) AS copy FROM quota) AS joining
