-- The figures of the sum, average, minimum or maximum of each query, from the classes that may satisfy it.
--
-- matched: the classes with n rows each, p, the probability that a row satisfies (NULL if unknown), whether all rows
-- satisfy, and the mean, mean square, least and greatest of the satisfying values, the last two in parts of 1 / $unit.
-- The figures are computed by figures.sql; `first` is p times the mean here.
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
