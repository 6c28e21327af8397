-- The releases that are in a series, dropped releases included, with whether the series has requirements for all of its
-- releases together.
SELECT r.release_id, s.series, count(q.model) > 0 AS requires, r.schema_name, r.object_name
FROM anon.series_release AS r
JOIN anon.series AS s ON s.series_id = r.series_id
LEFT JOIN anon.series_requirement AS q ON q.series_id = s.series_id
GROUP BY r.release_id, s.series, r.schema_name, r.object_name, r.position
ORDER BY s.series ASC NULLS LAST, r.position ASC NULLS LAST
