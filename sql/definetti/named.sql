-- The value that is believed most of each row, and how much; of equal ones the first.
SELECT row_id, bucket, code, weight AS confidence
FROM (
  SELECT w.row_id, r.bucket, w.code, w.weight,
    row_number() OVER (PARTITION BY w.row_id ORDER BY w.weight DESC NULLS LAST, w.code ASC NULLS LAST) AS place
  FROM weight AS w
  JOIN learned_row AS r ON r.row_id = w.row_id
) AS ranked
WHERE place = 1
