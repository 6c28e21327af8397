-- The class of each row and counterfeit, which gets one row of each value: row_no, signature, code, place, the number
-- of the class within its signature. Rows without a signature are assigned by their values, as by Anatomy (Xiao and Tao
-- 2006), to the greatest number of classes of at least m rows.
WITH rest AS (
  SELECT greatest(count(*) // $m, 1) AS classes FROM slot WHERE signature = 0
)
SELECT row_no, signature, code,
  row_number() OVER (PARTITION BY signature * (SELECT max(code) + 1 FROM quota) + code ORDER BY draw ASC NULLS LAST) AS place
FROM slot
WHERE signature > 0
UNION ALL
SELECT s.row_no, s.signature, s.code, s.number % rest.classes AS place
FROM (
  SELECT s.row_no, s.signature, s.code,
    row_number() OVER (ORDER BY q.draw ASC NULLS LAST, s.code ASC NULLS LAST, s.draw ASC NULLS LAST) - 1 AS number
  FROM slot AS s
  JOIN quota AS q ON q.code = s.code
  WHERE s.signature = 0
) AS s
CROSS JOIN rest
