-- The values of the sets of a release that no earlier release had. value_of_class: class_no, attribute, value, n;
-- class_set: the set of each class. parameter: $1 the series, $2 the sensitive attribute
SELECT s.value_set, v.attribute, v.value, v.n
FROM value_of_class AS v
JOIN (
  SELECT c.value_set, min(c.class_no) AS class_no
  FROM class_set AS c
  LEFT JOIN (SELECT DISTINCT value_set FROM anon.series_value WHERE series_id = $1 AND attribute = $2) AS known
    ON known.value_set = c.value_set
  WHERE known.value_set IS NULL
  GROUP BY c.value_set
) AS s ON s.class_no = v.class_no
WHERE v.attribute = $2
