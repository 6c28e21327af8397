-- The texts of digits below each mask of digits, all equally likely; other texts below the mask have the weight 0.
--
-- span: label, low, known and mask. The mask 80** is known to have digits in place of its two stars: 8000 to 8099.
WITH masked AS (
  SELECT label, low, length(mask) - length(low) AS stars
  FROM span
  WHERE known AND mask IS NOT NULL
), digits AS (
  SELECT
    label, low,
    CAST(stars AS INTEGER) AS stars,
    unnest(generate_series(CAST(0 AS BIGINT), CAST(power(10, stars) - 1 AS BIGINT))) AS number
  FROM masked
)
SELECT
  label,
  low || lpad(CAST(number AS VARCHAR), stars, '0') AS value,
  CAST(1 AS DOUBLE) AS weight,
  CAST(NULL AS DOUBLE) AS mean, CAST(NULL AS DOUBLE) AS square, NULL AS least, NULL AS greatest
FROM digits
