-- The values of the classes of the last two releases of a series, and of those classes in which respondents of the last one were latest
-- before.
-- parameter: $1 the series, $2 the position of its last release, $3 the sensitive attribute
SELECT position AS release, class_no AS class, value, n
FROM anon.series_value
WHERE series_id = $1 AND attribute = $3 AND position >= $2 - 1
UNION ALL
SELECT v.position AS release, v.class_no AS class, v.value, v.n
FROM anon.series_value AS v
JOIN (SELECT DISTINCT former_release, former_class FROM returner_pair) AS f
  ON f.former_release = v.position AND f.former_class = v.class_no
WHERE v.series_id = $1 AND v.attribute = $3
