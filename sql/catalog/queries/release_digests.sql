-- The rows from which the digests of releases are computed: all rows that describe a release, a line of JSON each, in
-- any order. parameter: $1 the releases' identifiers, a list Anyone who changes a row can compute the digest again: it
-- detects a mistake, and is no signature.
WITH line(release_id, content) AS (
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
        'known_triple', release_id, requirement::VARCHAR, value, l::VARCHAR, k::VARCHAR, m::VARCHAR
    ])::VARCHAR
    FROM anon.release_known_triple
    UNION ALL
    SELECT release_id, to_json([
        'round', release_id, round::VARCHAR, attribute, level::VARCHAR, rows::VARCHAR
    ])::VARCHAR
    FROM anon.release_round
    UNION ALL
    SELECT release_id, to_json([
        'comparison', release_id, position::VARCHAR, method, arguments, chosen::VARCHAR, reason, loss::VARCHAR,
        error::VARCHAR, suppressed_rows::VARCHAR, sampled_rows::VARCHAR, compared_at::VARCHAR
    ])::VARCHAR
    FROM anon.release_comparison
    UNION ALL
    SELECT release_id, to_json(['choice', release_id, attribute, list_name, key_variable, digest])::VARCHAR
    FROM anon.release_choice
    UNION ALL
    SELECT release_id, to_json([
        'measurement', release_id, release, question, attribute, required::VARCHAR, achieved::VARCHAR,
        satisfied::VARCHAR, measured_at::VARCHAR
    ])::VARCHAR
    FROM anon.measurement
)
SELECT release_id, content FROM line WHERE list_contains($1, release_id)
