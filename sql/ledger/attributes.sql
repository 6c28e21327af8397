-- What the ledger of a series has of the classes of each release: its attributes.
-- parameter: $1 the series
SELECT position, attribute FROM anon.series_class WHERE series_id = $1 GROUP BY position, attribute ORDER BY position ASC NULLS LAST
