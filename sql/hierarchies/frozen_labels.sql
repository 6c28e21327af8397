-- value, {levels}, listed: the labels in the catalog's copy for one release. A text that is not a value of the column's type
-- is left out; a repeated value counts once, whether its labels agree or not.
-- parameters: $release_id, $column, $value (the value in the column's type), and $level, the levels of {levels}
SELECT $value AS value, max(CASE WHEN level = $level THEN label::VARCHAR COLLATE "binary" END) AS "{levels}", true AS listed
FROM anon.release_taxonomy
WHERE release_id = $release_id AND attribute = $column AND (value IS NULL OR NOT $value IS NULL)
GROUP BY $value
