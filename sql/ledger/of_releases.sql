-- The releases that are in a series, and whether the series requires something of all of them.
SELECT r.release_id, s.series, count(q.model) > 0 AS requires
FROM anon.series_release AS r
JOIN anon.series AS s ON s.series_id = r.series_id
LEFT JOIN anon.series_requirement AS q ON q.series_id = s.series_id
GROUP BY r.release_id, s.series
