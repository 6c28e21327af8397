-- The blocks in which several rows have an equal key: block. A key of 0 or less belongs to one row only.
SELECT DISTINCT block
FROM (SELECT block FROM dealt WHERE block IS NOT NULL AND {key} > 0 GROUP BY block, {key} HAVING count(*) > 1) AS alike
