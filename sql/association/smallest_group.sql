-- The number of rows of a fragment's smallest group; NULL where there is none.
SELECT min(n) FROM (SELECT count(*) AS n FROM fragment GROUP BY {group}) AS part
