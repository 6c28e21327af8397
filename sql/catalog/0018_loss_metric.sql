-- What regions lose was recorded as granularity_loss, and counted otherwise: a range of numbers by its width, not by the values
-- in it. That is Iyengar's loss metric, and has its name from now on. Of buckets, which show values as they are, both are 0.
--
-- A digest covers the name too: that of a release whose rows are as they were written is made anew. Of a release whose rows
-- were changed it is taken away, so that the release stays refused.

CREATE TABLE anon.former_loss AS
SELECT release_id
FROM anon.release
WHERE coalesce(loss_name, 'granularity_loss') = 'granularity_loss' AND loss IS NOT NULL AND json_valid(method_arguments)
    AND CASE lower(method)
        WHEN 'mondrian' THEN coalesce(json_extract_string(method_arguments, '$.publish'), 'range') <> 'none'
        WHEN 'm_invariance' THEN coalesce(json_extract_string(method_arguments, '$.publish'), 'buckets') = 'ranges'
        ELSE false
    END;

-- As in sql/catalog/queries/release_digests.sql.
CREATE VIEW anon.former_digest AS
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
        weight::VARCHAR, fragment, source, reading
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
GROUP BY release_id;

UPDATE anon.release SET digest = NULL
FROM anon.former_digest AS made
WHERE release.release_id = made.release_id AND release.release_id IN (FROM anon.former_loss)
    AND release.digest IS DISTINCT FROM made.digest;

UPDATE anon.release SET loss_name = 'loss_metric' WHERE release_id IN (FROM anon.former_loss);

UPDATE anon.measurement SET question = 'loss_metric'
WHERE question = 'granularity_loss' AND required IS NULL AND release_id IN (FROM anon.former_loss);

UPDATE anon.release SET digest = made.digest
FROM anon.former_digest AS made
WHERE release.release_id = made.release_id AND release.release_id IN (FROM anon.former_loss)
    AND release.digest IS NOT NULL;

DROP VIEW anon.former_digest;
DROP TABLE anon.former_loss;
