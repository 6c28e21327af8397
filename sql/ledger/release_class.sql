-- The classes of one release of a series, with their sets of values.
-- parameter: $1 the series, $2 the position of the release, $3 the sensitive attribute
SELECT position, class_no, value_set
FROM anon.series_class
WHERE series_id = $1 AND position = $2 AND attribute = $3
