-- The attributes, rounds, objects, compared methods and lists of choices of a release, one row each, with the position
-- and the number of the row, which order them. parameter: $1 the release's identifier
SELECT position, a.rowid AS row_number, 'attribute' AS part, attribute, role, hierarchy, level, height, weight,
    fragment, source, reading
FROM anon.release_attribute AS a
WHERE release_id = $1
UNION ALL BY NAME
SELECT r.rowid AS row_number, 'round' AS part, attribute, level
FROM anon.release_round AS r
WHERE release_id = $1
UNION ALL BY NAME
SELECT o.rowid AS row_number, 'object' AS part, kind, schema_name, object_name, fragment, digest
FROM anon.release_object AS o
WHERE release_id = $1
UNION ALL BY NAME
SELECT position, c.rowid AS row_number, 'comparison' AS part, method, arguments, chosen, reason, loss, error,
    suppressed_rows, sampled_rows, compared_at
FROM anon.release_comparison AS c
WHERE release_id = $1
UNION ALL BY NAME
SELECT l.rowid AS row_number, 'choice' AS part, attribute, digest, list_name, key_variable
FROM anon.release_choice AS l
WHERE release_id = $1
