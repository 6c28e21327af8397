-- The sum, average, minimum or maximum of each query, its standard error and its bounds, from the classes that may
-- satisfy it.
--
-- matched has them with n rows, the probability p of a row to satisfy, NULL where nobody knows, whether all do, and of
-- the values that satisfy the mean, the mean square, the least and the greatest. The figures are those of estimate.sql,
-- which has a row for each combination of leaves: here `first` is p times the mean.
WITH class AS (
  SELECT
    query, n, certain, least, greatest,
    CASE WHEN certain THEN 1.0 ELSE p END AS p,
    CASE
      WHEN certain AND least = greatest THEN least
      WHEN certain THEN mean
      WHEN p = 0 THEN 0.0
      ELSE p * mean
    END AS first,
    CASE
      WHEN certain AND least = greatest THEN least * least
      WHEN certain THEN square
      WHEN p = 0 THEN 0.0
      ELSE p * square
    END AS second
  FROM matched
), total AS (
  SELECT
    query,
    bool_or(first IS NULL) AS unknown,
    sum(n * p) AS hits,
    sum(n * p * (1 - p)) AS hits_variance,
    sum(n * first) AS value,
    greatest(sum(n * (second - first * first)), 0) AS value_variance,
    sum(n * first * (1 - p)) AS covariance,
    bool_or(least IS NULL) AS no_least,
    bool_or(greatest IS NULL) AS no_greatest,
    sum(n * CASE WHEN certain THEN least ELSE least(least, 0) END) AS value_low,
    sum(n * CASE WHEN certain THEN greatest ELSE greatest(greatest, 0) END) AS value_high,
    coalesce(sum(n * least) FILTER (WHERE certain), 0) AS certain_low,
    coalesce(sum(n * greatest) FILTER (WHERE certain), 0) AS certain_high,
    coalesce(sum(n) FILTER (WHERE certain), 0) AS certain_rows,
    min(least) AS least,
    max(greatest) AS greatest,
    min(greatest) FILTER (WHERE certain) AS least_certain,
    max(least) FILTER (WHERE certain) AS most_certain,
    coalesce(min(first / p) FILTER (WHERE p > 0.499999999999), min(first / p) FILTER (WHERE p > 0)) AS expected_min,
    coalesce(max(first / p) FILTER (WHERE p > 0.499999999999), max(first / p) FILTER (WHERE p > 0)) AS expected_max
  FROM class
  GROUP BY query
), open_least AS (
  SELECT query, least, sum(n) AS n FROM class WHERE NOT certain GROUP BY query, least
), open_greatest AS (
  SELECT query, greatest, sum(n) AS n FROM class WHERE NOT certain GROUP BY query, greatest
), lowest AS (
  -- The means of any choice of the open rows lie between those of their least and of their greatest values.
  SELECT
    query,
    sum(n * least) OVER least_first AS added,
    sum(n) OVER least_first AS added_rows
  FROM open_least
  WINDOW least_first AS (PARTITION BY query ORDER BY least ROWS UNBOUNDED PRECEDING)
), highest AS (
  SELECT
    query,
    sum(n * greatest) OVER greatest_first AS added,
    sum(n) OVER greatest_first AS added_rows
  FROM open_greatest
  WINDOW greatest_first AS (PARTITION BY query ORDER BY greatest DESC ROWS UNBOUNDED PRECEDING)
), choice AS (
  SELECT query, certain_low / nullif(certain_rows, 0) AS low, certain_high / nullif(certain_rows, 0) AS high FROM total
  UNION ALL
  SELECT query, (certain_low + added) / (certain_rows + added_rows) AS low, NULL AS high FROM lowest JOIN total USING (query)
  UNION ALL
  SELECT query, NULL AS low, (certain_high + added) / (certain_rows + added_rows) AS high FROM highest JOIN total USING (query)
), mean AS (
  SELECT query, min(low) AS low, max(high) AS high FROM choice GROUP BY query
), figure AS (
  SELECT
    total.*,
    value / nullif(hits, 0) AS ratio,
    mean.low AS mean_low,
    mean.high AS mean_high,
    withheld.rows = 0 AS whole
  FROM total
  JOIN mean USING (query)
  CROSS JOIN withheld
)
SELECT
  asked.query_id,
  '[]' AS groups,
  asked.result,
  CASE WHEN NOT unknown THEN
    CASE asked.function WHEN 'sum' THEN value WHEN 'avg' THEN ratio WHEN 'min' THEN expected_min ELSE expected_max END
  END AS estimate,
  CASE WHEN NOT unknown THEN
    CASE asked.function
      WHEN 'sum' THEN sqrt(value_variance)
      WHEN 'avg' THEN
        sqrt(greatest(value_variance - 2 * ratio * covariance + ratio * ratio * hits_variance, 0)) / nullif(hits, 0)
    END
  END AS stderr,
  CASE asked.function
    WHEN 'sum' THEN CASE WHEN whole AND NOT no_least THEN value_low END
    WHEN 'avg' THEN CASE WHEN whole AND NOT no_least THEN mean_low END
    WHEN 'min' THEN CASE WHEN whole AND NOT no_least THEN least END
    ELSE CASE WHEN certain_rows > 0 THEN most_certain WHEN whole AND NOT no_least THEN least END
  END AS low,
  CASE asked.function
    WHEN 'sum' THEN CASE WHEN whole AND NOT no_greatest THEN value_high END
    WHEN 'avg' THEN CASE WHEN whole AND NOT no_greatest THEN mean_high END
    WHEN 'min' THEN CASE WHEN certain_rows > 0 THEN least_certain WHEN whole AND NOT no_greatest THEN greatest END
    ELSE CASE WHEN whole AND NOT no_greatest THEN greatest END
  END AS high
FROM asked
LEFT JOIN figure USING (query)
