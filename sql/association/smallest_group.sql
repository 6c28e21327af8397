-- The number of rows of a fragment's smallest group; NULL if there is no group.
SELECT min(n) FROM (SELECT count(*) AS n FROM fragment GROUP BY {group}) AS part
