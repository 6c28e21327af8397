-- The values that a series has had, as the ledger's texts: value. parameter: $1 the series, $2 the sensitive attribute
SELECT DISTINCT value FROM anon.series_value WHERE series_id = $1 AND attribute = $2
