-- The attributes whose classes the ledger of a series has, for each release: position, attribute. parameter: $1 the
-- series
SELECT position, attribute FROM anon.series_class WHERE series_id = $1 GROUP BY position, attribute ORDER BY position ASC NULLS LAST
