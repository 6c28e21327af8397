-- The number of newcomers, and the number of holes, of each value: code, newcomers, holes.
SELECT v.code, coalesce(n.newcomers, 0) AS newcomers, coalesce(h.holes, 0) AS holes
FROM value_code AS v
LEFT JOIN (
  SELECT code, count(*) AS newcomers FROM source_row WHERE signature IS NULL GROUP BY code
) AS n ON n.code = v.code
LEFT JOIN (SELECT code, count(*) AS holes FROM hole GROUP BY code) AS h ON h.code = v.code
