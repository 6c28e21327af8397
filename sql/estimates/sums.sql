-- The figures of the sum, average, minimum or maximum of each query, from the classes that may satisfy it.
--
-- matched has them with n rows, the probability p of a row to satisfy, NULL where nobody knows, whether all do, and of
-- the values that satisfy the mean, the mean square, the least and the greatest, the last two in parts of 1 / $unit. The
-- figures are those of figures.sql; here `first` is p times the mean.
WITH class AS (
  SELECT
    0 AS key, query AS number, $unit AS unit, n, certain, true AS possible, true AS below, true AS above, least, greatest,
    CASE WHEN certain THEN 1.0 ELSE p END AS p,
    CASE WHEN certain THEN mean WHEN p = 0 THEN 0.0 ELSE p * mean END AS first,
    CASE WHEN certain THEN square WHEN p = 0 THEN 0.0 ELSE p * square END AS second
  FROM matched
)
SELECT
  asked.query_id,
  '[]' AS groups,
  asked.result,
  asked.function,
  CASE asked.function WHEN 'sum' THEN sum WHEN 'avg' THEN avg WHEN 'min' THEN min ELSE max END AS estimate,
  CASE asked.function WHEN 'sum' THEN sum_spread WHEN 'avg' THEN avg_spread END AS spread,
  figure.* EXCLUDE (sum, avg, min, max)
FROM asked
LEFT JOIN figure ON asked.query = figure.number
