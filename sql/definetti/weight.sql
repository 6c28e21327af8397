-- The belief that a row has a value of its bucket, whose sum over the values is 1 for each row: row_id, code, weight.
SELECT k.row_id, k.code, k.kernel * s.scale / sum(k.kernel * s.scale) OVER (PARTITION BY k.row_id) AS weight
FROM kernel AS k
JOIN scale AS s ON s.bucket = k.bucket AND s.code = k.code
