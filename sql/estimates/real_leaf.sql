-- Pieces of the real line as leaves. Values are uniform: the weight of a piece is its length, and a point has no weight
-- if the label has other pieces. A piece between two neighboring doubles contains no value.
WITH bounded AS (
  SELECT *, CASE WHEN side = 0 THEN at ELSE at / 2 + to_at / 2 END AS inner_at FROM piece
)
SELECT
  label,
  inner_at AS at,
  CASE WHEN known THEN CASE WHEN single THEN 1.0 ELSE to_at - at END END AS weight,
  at / 2 + to_at / 2 AS mean,
  (at / 2 + to_at / 2) * (at / 2 + to_at / 2) + (to_at - at) * (to_at - at) / 12 AS square,
  CASE WHEN NOT from_open THEN at END AS least,
  CASE WHEN NOT to_open THEN to_at END AS greatest
FROM bounded
WHERE side = 0 OR (inner_at > at AND (inner_at < to_at OR to_side = 1))
