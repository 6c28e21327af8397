-- The signature of each class: position, class_no, key (the number of its set of values), size (its rows), n (the
-- greatest number of its rows with one value). parameter: $1 the series, $2 the position of a release, $3 the sensitive
-- attribute
SELECT c.position, c.class_no, c.value_set AS key, s.size, s.n
FROM class_of_series AS c
JOIN (
  SELECT value_set, sum(n) AS size, max(n) AS n FROM anon.series_value WHERE series_id = $1 AND attribute = $3 GROUP BY value_set
) AS s ON s.value_set = c.value_set
