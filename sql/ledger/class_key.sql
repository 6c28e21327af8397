-- The signature of each class in which somebody may have been latest: those of the last release, and those in returner. key is
-- the exclusive or of the numbers of its values, n how often it has a value at the most.
-- parameter: $1 the series, $2 the position of its last release, $3 the sensitive attribute
SELECT v.position, v.class_no, bit_xor(k.key) AS key, max(v.n) AS n
FROM (
  SELECT position, class_no, value, n
  FROM anon.series_value
  WHERE series_id = $1 AND position = $2 AND attribute = $3
  UNION ALL
  SELECT v.position, v.class_no, v.value, v.n
  FROM anon.series_value AS v
  JOIN (SELECT DISTINCT position, class_no FROM returner) AS r ON r.position = v.position AND r.class_no = v.class_no
  WHERE v.series_id = $1 AND v.attribute = $3
) AS v
JOIN known_value AS k ON k.value IS NOT DISTINCT FROM v.value
GROUP BY v.position, v.class_no
