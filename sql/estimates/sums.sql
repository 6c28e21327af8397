-- The sum or the average of each query, its standard error and its bounds, from the classes that may satisfy it.
--
-- matched has them with the value that their n rows have, the probability p of a row to satisfy, NULL where nobody
-- knows, and whether all do. The figures are those of estimate.sql for a value that is known: a row counts with its
-- value times p, and least and greatest are the value itself.
WITH class AS (
  SELECT
    query, value, n, certain,
    CASE WHEN certain THEN 1.0 ELSE p END AS p,
    CASE WHEN certain THEN value ELSE p * value END AS first,
    CASE WHEN certain THEN value * value ELSE p * (value * value) END AS second
  FROM matched
), total AS (
  SELECT
    query,
    bool_or(p IS NULL) AS unknown,
    sum(n * p) AS hits,
    sum(n * p * (1 - p)) AS hits_variance,
    sum(n * first) AS value,
    greatest(sum(n * (second - first * first)), 0) AS value_variance,
    sum(n * first * (1 - p)) AS covariance,
    sum(n * CASE WHEN certain THEN value ELSE least(value, 0) END) AS value_low,
    sum(n * CASE WHEN certain THEN value ELSE greatest(value, 0) END) AS value_high,
    coalesce(sum(n * value) FILTER (WHERE certain), 0) AS certain_value,
    coalesce(sum(n) FILTER (WHERE certain), 0) AS certain_rows
  FROM class
  GROUP BY query
), open_value AS (
  SELECT query, value, sum(n) AS n FROM class WHERE NOT certain GROUP BY query, value
), reached AS (
  -- The means of any choice of the open rows lie between those of their least and of their greatest values.
  SELECT
    query,
    sum(n * value) OVER least_first AS low_value,
    sum(n) OVER least_first AS low_rows,
    sum(n * value) OVER greatest_first AS high_value,
    sum(n) OVER greatest_first AS high_rows
  FROM open_value
  WINDOW
    least_first AS (PARTITION BY query ORDER BY value ROWS UNBOUNDED PRECEDING),
    greatest_first AS (PARTITION BY query ORDER BY value DESC ROWS UNBOUNDED PRECEDING)
), choice AS (
  SELECT query, certain_value / nullif(certain_rows, 0) AS low, certain_value / nullif(certain_rows, 0) AS high FROM total
  UNION ALL
  SELECT
    query,
    (certain_value + low_value) / (certain_rows + low_rows) AS low,
    (certain_value + high_value) / (certain_rows + high_rows) AS high
  FROM reached
  JOIN total USING (query)
), mean AS (
  SELECT query, min(low) AS low, max(high) AS high FROM choice GROUP BY query
), figure AS (
  SELECT
    total.* EXCLUDE (unknown),
    NOT unknown AS known,
    value / nullif(hits, 0) AS ratio,
    mean.low AS mean_low,
    mean.high AS mean_high
  FROM total
  JOIN mean USING (query)
)
SELECT
  asked.query_id,
  '[]' AS groups,
  asked.result,
  CASE WHEN known THEN CASE asked.function WHEN 'sum' THEN value ELSE ratio END END AS estimate,
  CASE WHEN known THEN
    CASE asked.function
      WHEN 'sum' THEN sqrt(value_variance)
      ELSE sqrt(greatest(value_variance - 2 * ratio * covariance + ratio * ratio * hits_variance, 0)) / nullif(hits, 0)
    END
  END AS stderr,
  CASE WHEN withheld.rows = 0 THEN CASE asked.function WHEN 'sum' THEN value_low ELSE mean_low END END AS low,
  CASE WHEN withheld.rows = 0 THEN CASE asked.function WHEN 'sum' THEN value_high ELSE mean_high END END AS high
FROM asked
LEFT JOIN figure USING (query)
CROSS JOIN withheld
