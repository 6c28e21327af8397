-- How each published column is read, so that whoever checks a release or estimates from it need not know its method.
--
-- Of releases that are there it follows from their method, its arguments and the roles of their columns. A digest
-- covers the readings too: that of a release whose rows are as they were written is made anew. Of a release whose rows
-- were changed it is taken away, so that the release stays refused.

UPDATE anon.release SET digest = NULL
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
WHERE release.release_id = made.release_id AND release.digest IS DISTINCT FROM made.digest;

ALTER TABLE anon.release_attribute ADD COLUMN reading VARCHAR;

UPDATE anon.release_attribute SET reading = CASE
    WHEN token THEN 'token'
    WHEN method = 'anatomy' THEN CASE
        WHEN role = 'quasi_identifier' THEN 'bucket'
        WHEN fragment = 'qi' THEN 'exact'
        WHEN role = 'sensitive' THEN 'bucket_value'
        ELSE 'count'
    END
    WHEN method = 'fragments' THEN 'bucket_value'
    WHEN method = 'loose' THEN CASE
        WHEN fragment = 'association' THEN 'link'
        WHEN attribute = 'group_id' THEN 'group'
        ELSE 'bucket_value'
    END
    WHEN method = 'mondrian' AND publish = 'none' THEN CASE
        WHEN role = 'quasi_identifier' THEN 'bucket'
        WHEN role = 'sensitive' THEN 'bucket_value'
        ELSE 'exact'
    END
    WHEN role <> 'quasi_identifier' THEN 'exact'
    WHEN method = 'generalization' THEN CASE WHEN level = 0 AND NOT coarser THEN 'exact' ELSE 'label' END
    WHEN method <> 'mondrian' THEN NULL
    WHEN NOT of_policy AND ends_with(attribute, '_low') THEN 'lower_bound'
    WHEN NOT of_policy AND ends_with(attribute, '_high') THEN 'upper_bound'
    WHEN publish = 'ancestor' AND hierarchy IS NOT NULL THEN 'label'
    WHEN publish = 'centroid' THEN 'centroid'
    ELSE 'range'
END
FROM (
    WITH called AS (
        SELECT
            release_id,
            translate(name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') AS name,
            bool_or(pseudonym IS NOT NULL AND pseudonym::VARCHAR <> 'null') AS token
        FROM (
            SELECT release_id, unnest(from_json(
                json_extract(policy_json, '$.policy.attributes'), '[{"name": "VARCHAR", "pseudonym": "JSON"}]'
            ), recursive := true)
            FROM anon.release
            WHERE json_valid(policy_json)
        ) AS named
        GROUP BY ALL
    )
    SELECT
        a.release_id AS of_release, a.attribute AS of_attribute, a.fragment AS of_fragment, lower(method) AS method,
        coalesce(json_extract_string(method_arguments, '$.publish'), 'range') AS publish,
        coalesce(token, false) AS token, called.name IS NOT NULL AS of_policy,
        EXISTS (
            FROM anon.release_round AS r
            WHERE r.release_id = a.release_id AND r.attribute = a.attribute AND r.level > 0
        ) AS coarser
    FROM anon.release_attribute AS a
    JOIN anon.release AS made ON made.release_id = a.release_id AND json_valid(method_arguments)
    LEFT JOIN called ON called.release_id = a.release_id AND called.name
        = translate(coalesce(a.source, a.attribute), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
) AS made
WHERE release_id = of_release AND attribute = of_attribute AND fragment IS NOT DISTINCT FROM of_fragment;

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
    GROUP BY release_id
) AS made
WHERE release.release_id = made.release_id AND release.digest IS NOT NULL;
