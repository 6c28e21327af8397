-- The values of the classes in which respondents may have been latest: those of the last release of a series, and those of returners.
-- parameter: $1 the series, $2 the position of its last release, $3 the sensitive attribute
SELECT position, class_no, value, n
FROM anon.series_value
WHERE series_id = $1 AND position = $2 AND attribute = $3
UNION ALL
SELECT v.position, v.class_no, v.value, v.n
FROM anon.series_value AS v
JOIN (SELECT DISTINCT position, class_no FROM returner) AS r ON r.position = v.position AND r.class_no = v.class_no
WHERE v.series_id = $1 AND v.attribute = $3
