-- value, label: the labels in the catalog's copy for a live view, one row for each value, even if it is repeated.
-- parameters: $release_id, $column, and $value, the value in the column's type
SELECT $value AS value, max(label::VARCHAR COLLATE "binary") AS label
FROM anon.release_recoding
WHERE release_id = $release_id AND attribute = $column AND (value IS NULL OR NOT $value IS NULL)
GROUP BY $value
