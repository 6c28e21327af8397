-- The signatures of the classes in latest_class, numbered from 1: which values each of them has, and how often at the most.
-- parameter: $1 the series, $2 the sensitive attribute
SELECT position, class_no, dense_rank() OVER (ORDER BY signature_values ASC NULLS LAST) AS signature, signature_values, n
FROM (
  SELECT v.position, v.class_no, list(v.value ORDER BY v.value ASC NULLS LAST) AS signature_values, max(v.n) AS n
  FROM anon.series_value AS v
  JOIN (SELECT DISTINCT position, class_no FROM latest_class) AS c ON c.position = v.position AND c.class_no = v.class_no
  WHERE v.series_id = $1 AND v.attribute = $2
  GROUP BY v.position, v.class_no
) AS class_values
