-- The latest classes of respondents, with their sets of values: the classes of the last release of a series, and the
-- latest classes of respondents who return: position, class_no, value_set. parameter: $1 the series, $2 the position of
-- its last release, $3 the sensitive attribute
SELECT position, class_no, value_set
FROM anon.series_class
WHERE series_id = $1 AND position = $2 AND attribute = $3
UNION ALL
SELECT c.position, c.class_no, c.value_set
FROM anon.series_class AS c
JOIN (SELECT DISTINCT position, class_no FROM returner) AS r ON r.position = c.position AND r.class_no = c.class_no
WHERE c.series_id = $1 AND c.attribute = $3
