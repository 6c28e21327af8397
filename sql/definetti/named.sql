-- The value of the greatest belief for each row, and that belief; of equal beliefs the first value: row_id, bucket,
-- code, confidence.
SELECT row_id, bucket, code, weight AS confidence
FROM (
  SELECT w.row_id, r.bucket, w.code, w.weight,
    row_number() OVER (PARTITION BY w.row_id ORDER BY w.weight DESC NULLS LAST, w.code ASC NULLS LAST) AS place
  FROM weight AS w
  JOIN learned_row AS r ON r.row_id = w.row_id
) AS ranked
WHERE place = 1
