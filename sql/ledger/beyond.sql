-- The number of rows in the ledger about releases that the series does not have: beyond; one row. parameter: $1 the
-- series, $2 the number of its releases
SELECT (SELECT count(*) FROM anon.series_member WHERE series_id = $1 AND position NOT BETWEEN 1 AND $2)
  + (SELECT count(*) FROM anon.series_class WHERE series_id = $1 AND position NOT BETWEEN 1 AND $2)
  + (SELECT count(*) FROM anon.series_value WHERE series_id = $1 AND position NOT BETWEEN 1 AND $2) AS beyond
