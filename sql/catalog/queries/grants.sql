-- The grants of readers that were not dropped, each with whether it was revoked, and the state of its release: it
-- exists, another release has its name now, or it is gone.
SELECT
  reader.reader_id,
  reader.reader,
  grants.release_id,
  grants.schema_name,
  grants.object_name,
  grants.kind,
  CASE
    WHEN EXISTS (
      FROM anon.release AS release
      WHERE release.release_id = grants.release_id
        AND release.schema_name = grants.schema_name
        AND release.object_name = grants.object_name
    ) THEN 'granted'
    WHEN EXISTS (
      FROM anon.release AS release
      WHERE release.schema_name = grants.schema_name
        AND release.object_name = grants.object_name
    ) THEN 'void: another release has this name'
    ELSE 'void: the release was dropped'
  END AS state,
  grants.granted_at,
  reader.expires_on
FROM anon.reader AS reader
JOIN anon.reader_grant AS grants ON grants.reader_id = reader.reader_id
WHERE reader.dropped_at IS NULL AND grants.revoked_at IS NULL
ORDER BY grants.rowid ASC NULLS LAST
