-- The values that a series has had, each with a number of 128 bits, which others have with a probability of 2^-128 a pair.
-- parameter: $1 the series, $2 the sensitive attribute
SELECT value, md5_number(coalesce('v' || value, 'n')) AS key
FROM (SELECT DISTINCT value FROM anon.series_value WHERE series_id = $1 AND attribute = $2) AS had
