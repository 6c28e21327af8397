-- The greatest number of rows that one value has in a region: the number of classes into which the region is divided.
SELECT coalesce(max(n), 0) AS classes FROM (SELECT count(*) AS n FROM near_row GROUP BY region, code) AS each
