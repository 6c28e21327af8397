-- What is believed of each row: its shares of the values of its bucket, which add up to 1.
SELECT k.row_id, k.code, k.kernel * s.scale / sum(k.kernel * s.scale) OVER (PARTITION BY k.row_id) AS weight
FROM kernel AS k
JOIN scale AS s ON s.bucket = k.bucket AND s.code = k.code
