-- The values of each class of each release of the series, with their numbers of rows.
SELECT c.series_id, c.position, c.class_no, v.attribute, v.value, v.n
FROM anon.series_class AS c
JOIN anon.series_value AS v ON v.value_set = c.value_set AND v.series_id = c.series_id AND v.attribute = c.attribute
