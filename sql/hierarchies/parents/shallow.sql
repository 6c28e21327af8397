-- The leaves that are less deep than the deepest leaf: name, the leaf and both depths.
SELECT
  CASE WHEN node IS NULL THEN 'NULL' ELSE '''' || node || '''' END || ' (depth ' || CAST(depth AS TEXT)
  || ', the deepest ' || CAST((SELECT max(depth) FROM "tree leaf") AS TEXT) || ')' AS name
FROM "tree leaf"
WHERE depth <> (SELECT max(depth) FROM "tree leaf")
