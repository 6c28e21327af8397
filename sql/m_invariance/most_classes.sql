-- The most rows that a value has in a region, which are the classes that it becomes.
SELECT coalesce(max(n), 0) AS classes FROM (SELECT count(*) AS n FROM near_row GROUP BY region, code) AS each
