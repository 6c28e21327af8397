-- The releases that are in a series, those that are gone too, and whether the series requires something of all of them.
SELECT r.release_id, s.series, count(q.model) > 0 AS requires, r.schema_name, r.object_name
FROM anon.series_release AS r
JOIN anon.series AS s ON s.series_id = r.series_id
LEFT JOIN anon.series_requirement AS q ON q.series_id = s.series_id
GROUP BY r.release_id, s.series, r.schema_name, r.object_name, r.position
ORDER BY s.series ASC NULLS LAST, r.position ASC NULLS LAST
