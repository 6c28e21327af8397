-- The nodes that are their own ancestors: name.
SELECT CASE WHEN node IS NULL THEN 'NULL' ELSE '''' || node || '''' END AS name
FROM "tree ancestor"
WHERE node = ancestor
