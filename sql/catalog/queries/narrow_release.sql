-- Updates the policy and the fingerprints of a release that has lost one column. parameters: the fingerprint of the
-- policy, the policy, the fingerprint of the rows, the release
UPDATE anon.release SET policy_fingerprint = ?, policy_json = ?, content_fingerprint = ? WHERE release_id = ?
