-- What was given away, and whether a release's rows are those that were written with it.
--
-- A release names what it read, an export is remembered when its release is gone, and a digest covers
-- all of a release's rows. Releases that are there get their digest from the rows as they stand; what they
-- read is NULL, and follows from the policy that they carry.
--
-- A measurement has the release's own name, without its schema, and the loss is one of them.

ALTER TABLE anon.release ADD COLUMN sources VARCHAR;
ALTER TABLE anon.release ADD COLUMN digest VARCHAR;
ALTER TABLE anon.release_object ADD COLUMN digest VARCHAR;

CREATE TABLE anon.release_export (
    release_id VARCHAR,
    schema_name VARCHAR NOT NULL,
    object_name VARCHAR NOT NULL,
    method VARCHAR,
    sources VARCHAR,
    format VARCHAR,
    exported_at TIMESTAMP DEFAULT make_timestamp(epoch_us(current_timestamp))
);

UPDATE anon.measurement SET release = made.object_name
FROM anon.release AS made
WHERE measurement.release_id = made.release_id;

INSERT INTO anon.measurement (release_id, release, question, achieved, measured_at)
SELECT release_id, object_name, coalesce(loss_name, 'granularity_loss'), loss, coalesce(checked_at, created_at)
FROM anon.release
LEFT JOIN (
    SELECT release_id, max(measured_at) AS checked_at FROM anon.measurement GROUP BY release_id
) AS checked USING (release_id)
WHERE loss IS NOT NULL;

-- As in sql/catalog/queries/release_digests.sql.
UPDATE anon.release SET digest = made.digest
FROM (
    WITH line(release_id, said) AS (
        SELECT release_id, to_json([
            'release', release_id, schema_name, object_name, kind, policy, policy_fingerprint, policy_json, method,
            method_arguments, source_rows::VARCHAR, released_rows::VARCHAR, suppressed_rows::VARCHAR, loss::VARCHAR,
            nodes::VARCHAR, nodes_checked::VARCHAR, content_fingerprint, engine_version, sqlanon_version,
            created_at::VARCHAR, nodes_pruned::VARCHAR, proven_optimal::VARCHAR, loss_bound::VARCHAR, loss_name, sources
        ])::VARCHAR
        FROM anon.release
        UNION ALL
        SELECT release_id, to_json([
            'attribute', release_id, position::VARCHAR, attribute, role, hierarchy, level::VARCHAR, height::VARCHAR,
            weight::VARCHAR, fragment, source
        ])::VARCHAR
        FROM anon.release_attribute
        UNION ALL
        SELECT release_id, to_json(['object', release_id, kind, schema_name, object_name, fragment, digest])::VARCHAR
        FROM anon.release_object
        UNION ALL
        SELECT release_id, to_json(['recoding', release_id, attribute, value, label])::VARCHAR
        FROM anon.release_recoding
        UNION ALL
        SELECT release_id, to_json(['taxonomy', release_id, attribute, value, level::VARCHAR, label])::VARCHAR
        FROM anon.release_taxonomy
        UNION ALL
        SELECT release_id, to_json([
            'value_range', release_id, requirement::VARCHAR, value, low::VARCHAR, high::VARCHAR
        ])::VARCHAR
        FROM anon.release_value_range
        UNION ALL
        SELECT release_id, to_json([
            'round', release_id, round::VARCHAR, attribute, level::VARCHAR, rows::VARCHAR
        ])::VARCHAR
        FROM anon.release_round
        UNION ALL
        SELECT release_id, to_json([
            'measurement', release_id, release, question, attribute, required::VARCHAR, achieved::VARCHAR,
            satisfied::VARCHAR, measured_at::VARCHAR
        ])::VARCHAR
        FROM anon.measurement
    )
    SELECT release_id, sha256(string_agg(said, chr(10) ORDER BY encode(said) ASC NULLS LAST)) AS digest
    FROM line
    GROUP BY release_id
) AS made
WHERE release.release_id = made.release_id;
