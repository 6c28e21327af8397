-- The values of the classes of one release of a series.
-- parameter: $1 the series, $2 the position of the release, $3 the sensitive attribute
SELECT position, class_no, value, n
FROM anon.series_value
WHERE series_id = $1 AND position = $2 AND attribute = $3
