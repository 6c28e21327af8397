-- The values of each signature, as the ledger's texts: signature, text, n (the greatest number of rows of one value in
-- a class with the signature). parameter: $1 the series, $2 the sensitive attribute
SELECT s.signature, v.value AS text, s.n
FROM signature AS s
JOIN anon.series_value AS v ON v.value_set = s.key
WHERE v.series_id = $1 AND v.attribute = $2
