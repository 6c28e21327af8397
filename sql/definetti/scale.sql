-- One rescaling: rows add up to 1, and then each value to its number of rows. `change` is how far it was from that.
WITH scaled AS (
  SELECT k.bucket, k.code, k.n, s.scale, k.kernel / sum(k.kernel * s.scale) OVER (PARTITION BY k.row_id) AS portion
  FROM kernel AS k
  JOIN scale AS s ON s.bucket = k.bucket AND s.code = k.code
)
SELECT bucket, code, CAST(max(n) AS DOUBLE) / sum(portion) AS scale,
  abs(CAST(max(n) AS DOUBLE) / (sum(portion) * max(scale)) - 1) AS change
FROM scaled
GROUP BY bucket, code
