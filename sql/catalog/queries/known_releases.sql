-- The releases whose rows somebody may have: existing releases, exported releases, releases that a reader was granted,
-- and the releases in the ledger of a series, each with whether the series has requirements for all of its releases
-- together. They are ordered by the timestamp, the series and the number of the row.
SELECT created_at AS moment, NULL AS series, rowid AS number, 'standing' AS place, release_id, schema_name, object_name,
    kind, method, sources, digest, NULL AS requires
FROM anon.release
UNION ALL
SELECT exported_at, NULL, rowid, 'exported', release_id, schema_name, object_name, 'table', method, sources, NULL, NULL
FROM anon.release_export
UNION ALL
SELECT granted_at, NULL, rowid, 'granted', release_id, schema_name, object_name, kind, method, sources, NULL, NULL
FROM anon.reader_grant
UNION ALL
SELECT NULL, s.series, r.position, 'in series', r.release_id, r.schema_name, r.object_name, 'table', NULL, NULL, NULL,
    s.series_id IN (SELECT series_id FROM anon.series_requirement WHERE model IS NOT NULL)
FROM anon.series_release AS r
JOIN anon.series AS s ON s.series_id = r.series_id
