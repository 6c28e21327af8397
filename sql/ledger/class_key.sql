-- The signature of each class, key: the set of its values. size is its number of rows, n how often it has a value at the most.
-- parameter: $1 the series, $2 the position of a release, $3 the sensitive attribute
SELECT c.position, c.class_no, c.value_set AS key, s.size, s.n
FROM class_of_series AS c
JOIN (
  SELECT value_set, sum(n) AS size, max(n) AS n FROM anon.series_value WHERE series_id = $1 AND attribute = $3 GROUP BY value_set
) AS s ON s.value_set = c.value_set
