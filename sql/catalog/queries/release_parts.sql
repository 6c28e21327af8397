-- The attributes, the rounds and the objects of a release, a row each, in their order. parameter: $1 its identifier
SELECT * EXCLUDE (position, row_number) FROM (
    SELECT 'attribute' AS part, position, a.rowid AS row_number, attribute, role, hierarchy, level, height, weight,
        fragment, source, reading
    FROM anon.release_attribute AS a
    WHERE release_id = $1
    UNION ALL BY NAME
    SELECT 'round' AS part, r.rowid AS row_number, attribute, level
    FROM anon.release_round AS r
    WHERE release_id = $1
    UNION ALL BY NAME
    SELECT 'object' AS part, o.rowid AS row_number, kind, schema_name, object_name, fragment, digest
    FROM anon.release_object AS o
    WHERE release_id = $1
)
ORDER BY position ASC NULLS LAST, row_number ASC NULLS LAST
