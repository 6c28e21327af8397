-- Pieces of whole numbers: each number is a leaf. `at` stands for all of a piece; mean and
-- square are those of its numbers, and the square of n neighbouring numbers is that of
-- their mean and a variance of (n * n - 1) / 12.
WITH bounded AS (
  SELECT *, at + side AS first, to_at + to_side - 1 AS last FROM piece
)
SELECT
  label,
  first AS at,
  CASE WHEN known THEN CAST(last - first + 1 AS DOUBLE) END AS weight,
  (CAST(first AS DOUBLE) + CAST(last AS DOUBLE)) / 2 AS mean,
  ((CAST(first AS DOUBLE) + CAST(last AS DOUBLE)) / 2) * ((CAST(first AS DOUBLE) + CAST(last AS DOUBLE)) / 2)
    + (CAST(last - first + 1 AS DOUBLE) * CAST(last - first + 1 AS DOUBLE) - 1) / 12 AS square,
  CASE WHEN NOT from_open THEN CAST(first AS DOUBLE) END AS least,
  CASE WHEN NOT to_open THEN CAST(last AS DOUBLE) END AS greatest
FROM bounded
WHERE last >= first
