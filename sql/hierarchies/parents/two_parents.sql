-- The nodes with two parents: name, the node and both parents. min and max ignore NULL, so a node that is a root and
-- has a parent, too, is found by comparing counts.
SELECT
  CASE WHEN node IS NULL THEN 'NULL' ELSE '''' || node || '''' END || ' under '
  || CASE WHEN min(parent) IS NULL THEN 'NULL' ELSE '''' || min(parent) || '''' END || ' and '
  || CASE WHEN count(parent) <> count(*) THEN 'NULL' ELSE CASE WHEN max(parent) IS NULL THEN 'NULL' ELSE '''' || max(parent) || '''' END END AS name
FROM "tree edge"
GROUP BY node
HAVING min(parent) <> max(parent) OR (count(parent) <> count(*) AND count(parent) > 0)
