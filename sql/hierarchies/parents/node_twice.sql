-- The rows that occur more than once: name, the node and its parent.
SELECT
  CASE WHEN node IS NULL THEN 'NULL' ELSE '''' || node || '''' END || ' under '
  || CASE WHEN parent IS NULL THEN 'NULL' ELSE '''' || parent || '''' END AS name
FROM "tree edge"
GROUP BY node, parent
HAVING count(*) > 1
