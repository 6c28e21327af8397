-- Deletes the record of one export of a release. parameters: the release, when it was exported
DELETE FROM anon.release_export WHERE release_id = ? AND exported_at = ?
