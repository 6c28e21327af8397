-- How many rows the ledger has of releases that a series does not have.
-- parameter: $1 the series, $2 how many releases it has
SELECT (SELECT count(*) FROM anon.series_member WHERE series_id = $1 AND position NOT BETWEEN 1 AND $2)
  + (SELECT count(*) FROM anon.series_class WHERE series_id = $1 AND position NOT BETWEEN 1 AND $2)
  + (SELECT count(*) FROM anon.series_value WHERE series_id = $1 AND position NOT BETWEEN 1 AND $2) AS beyond
