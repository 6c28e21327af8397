-- Pieces of whole numbers as leaves: each number of a piece is a leaf. `at` is one number of the piece, the end that is
-- not an end of the type, and represents all of them. mean and square are the means over the piece's numbers: the mean
-- square of n consecutive numbers is the square of their mean plus a variance of (n * n - 1) / 12. least and greatest
-- are exact.
WITH bounded AS (
  SELECT *, at + side AS first, to_at - (1 - to_side) AS last FROM piece
), counted AS (
  SELECT
    *,
    -- The numbers of a type of 128 bits are more than it can count.
    CASE WHEN first > -(1::HUGEINT << 126) AND last < (1::HUGEINT << 126) - 1
      THEN CAST(last - first + 1 AS DOUBLE) ELSE CAST(last AS DOUBLE) - CAST(first AS DOUBLE) END AS numbers
  FROM bounded
  WHERE last >= first
)
SELECT
  label,
  CASE WHEN from_open AND NOT to_open THEN last ELSE first END AS at,
  CASE WHEN known THEN numbers END AS weight,
  (CAST(first AS DOUBLE) + CAST(last AS DOUBLE)) / 2 AS mean,
  ((CAST(first AS DOUBLE) + CAST(last AS DOUBLE)) / 2) * ((CAST(first AS DOUBLE) + CAST(last AS DOUBLE)) / 2)
    + (numbers * numbers - 1) / 12 AS square,
  CASE WHEN NOT from_open THEN first END AS least,
  CASE WHEN NOT to_open THEN last END AS greatest
FROM counted
