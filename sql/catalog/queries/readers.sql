-- The readers that were not dropped, each with the number of existing releases that it may read.
SELECT
  reader.reader,
  reader.expires_on,
  (
    SELECT count(DISTINCT grants.release_id)
    FROM anon.reader_grant AS grants
    WHERE grants.reader_id = reader.reader_id
      AND grants.revoked_at IS NULL
      AND EXISTS (
        FROM anon.release AS release
        WHERE release.release_id = grants.release_id
          AND release.schema_name = grants.schema_name
          AND release.object_name = grants.object_name
      )
  ) AS releases,
  reader.created_at
FROM anon.reader AS reader
WHERE reader.dropped_at IS NULL
ORDER BY reader.rowid ASC NULLS LAST
