-- The blocks with rows that are alike in a key: block. Keys up to 0 are values of one row.
SELECT DISTINCT block
FROM (SELECT block FROM dealt WHERE block IS NOT NULL AND {key} > 0 GROUP BY block, {key} HAVING count(*) > 1) AS alike
