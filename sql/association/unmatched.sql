-- The groups that have another number of rows in a fragment than in the association, 0 rows included: group_id.
SELECT coalesce(rows.group_id, links.group_id) AS group_id
FROM (SELECT {group} AS group_id, count(*) AS n FROM fragment GROUP BY {group}) AS rows
FULL JOIN (SELECT {number} AS group_id, count(*) AS n FROM association GROUP BY {number}) AS links
  ON rows.group_id IS NOT DISTINCT FROM links.group_id
WHERE rows.n IS DISTINCT FROM links.n
