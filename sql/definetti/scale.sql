-- One rescaling of the kernel: the shares of a row are made to add up to 1, then the shares of a value to its number of
-- rows: bucket, code, scale, change. `change` is the relative change of the scale.
WITH scaled AS (
  SELECT k.bucket, k.code, k.n, s.scale, k.kernel / sum(k.kernel * s.scale) OVER (PARTITION BY k.row_id) AS portion
  FROM kernel AS k
  JOIN scale AS s ON s.bucket = k.bucket AND s.code = k.code
)
SELECT bucket, code, CAST(max(n) AS DOUBLE) / sum(portion) AS scale,
  abs(CAST(max(n) AS DOUBLE) / (sum(portion) * max(scale)) - 1) AS change
FROM scaled
GROUP BY bucket, code
