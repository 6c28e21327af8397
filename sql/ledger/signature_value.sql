-- The values of each signature, as the ledger's texts, and how often a class has one at the most.
-- parameter: $1 the series, $2 the sensitive attribute
SELECT s.signature, v.value AS text, s.n
FROM signature AS s
JOIN anon.series_value AS v ON v.value_set = s.key
WHERE v.series_id = $1 AND v.attribute = $2
