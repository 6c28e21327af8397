-- The parents that are not nodes themselves: name, the parent and one of its children.
SELECT
  CASE WHEN child.parent IS NULL THEN 'NULL' ELSE '''' || child.parent || '''' END || ' (parent of '
  || min(CASE WHEN child.node IS NULL THEN 'NULL' ELSE '''' || child.node || '''' END) || ')' AS name
FROM "tree edge" AS child
WHERE NOT child.parent IS NULL AND NOT EXISTS (SELECT 1 FROM "tree edge" AS node WHERE node.node = child.parent)
GROUP BY child.parent
