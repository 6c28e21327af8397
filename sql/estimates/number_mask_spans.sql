-- The spans of whole numbers below masks: 4* is from 40 to 49, and -* from -9 to -1 (below it no number begins with 0).
--
-- mask: the rows of mask.sql. point_of gives the point of a number on the axis.
WITH digits AS (
  SELECT
    label,
    CASE
      WHEN prefix = '-' THEN point_of(TRY_CAST('-1' || repeat('0', CAST(stars - 1 AS INTEGER)) AS HUGEINT))
      ELSE point_of(TRY_CAST(prefix || repeat('0', CAST(stars AS INTEGER)) AS HUGEINT))
    END AS of_zeros,
    point_of(TRY_CAST(prefix || repeat('9', CAST(stars AS INTEGER)) AS HUGEINT)) AS of_nines
  FROM mask
), masked AS (
  SELECT label, least(of_zeros, of_nines) AS low, greatest(of_zeros, of_nines) AS high
  FROM digits
)
SELECT
  label,
  low, 0 AS low_side,
  high, 1 AS high_side,
  true AS known, false AS open_low, false AS open_high, CAST(NULL AS VARCHAR) AS mask
FROM masked
WHERE low IS NOT NULL AND high IS NOT NULL
