-- Writes the digest of the rows that describe a release. parameters: the digest, the release
UPDATE anon.release SET digest = ? WHERE release_id = ?
