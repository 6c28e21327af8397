-- The releases whose rows somebody may have: those that stand, those that were exported, and those in the ledger of a
-- series, each with whether the series requires something of all of its releases.
SELECT place, release_id, schema_name, object_name, kind, method, sources, digest, moment, series, requires
FROM (
    SELECT 'standing' AS place, rowid AS number, release_id, schema_name, object_name, kind, method, sources, digest,
        created_at AS moment, NULL AS series, NULL AS requires
    FROM anon.release
    UNION ALL
    SELECT 'exported', rowid, release_id, schema_name, object_name, 'table', method, sources, NULL, exported_at, NULL,
        NULL
    FROM anon.release_export
    UNION ALL
    SELECT 'in series', r.position, r.release_id, r.schema_name, r.object_name, 'table', NULL, NULL, NULL, NULL,
        s.series, s.series_id IN (SELECT series_id FROM anon.series_requirement WHERE model IS NOT NULL)
    FROM anon.series_release AS r
    JOIN anon.series AS s ON s.series_id = r.series_id
) AS known
ORDER BY moment ASC NULLS LAST, series ASC NULLS LAST, number ASC NULLS LAST
