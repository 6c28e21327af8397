-- The figures of each group (key) and each count (number), for queries that have no aggregates but counts.
--
-- class, withheld, bound and the formulas are those of figures.sql.
WITH total AS (
  SELECT
    key, number,
    CASE WHEN bool_or(p IS NULL) THEN NULL ELSE sum(n * p) END AS hits,
    CASE WHEN bool_or(p IS NULL) THEN NULL ELSE sum(n * p * (1 - p)) END AS hits_variance,
    coalesce(sum(n) FILTER (WHERE certain), 0) AS certain_rows,
    coalesce(sum(n) FILTER (WHERE possible), 0) AS possible_rows
  FROM class
  GROUP BY key, number
), figure AS (
  SELECT
    total.key, total.number,
    possible_rows > 0 AS possible,
    CAST(hits AS DOUBLE) AS count,
    CASE WHEN hits IS NOT NULL THEN sqrt(greatest(CAST(hits_variance AS DOUBLE), 0)) END AS count_spread,
    CAST(coalesce(bound.low, certain_rows) AS BIGINT) AS count_low,
    CAST(coalesce(bound.high, possible_rows) + withheld.rows AS BIGINT) AS count_high
  FROM total
  LEFT JOIN bound ON total.key IS NOT DISTINCT FROM bound.key AND total.number = bound.number
  CROSS JOIN withheld
)
SELECT
  key, number, possible,
  -- A sum of shares is rounded: it may come to a little more than the rows that there can be.
  CASE WHEN count IS NOT NULL THEN least(greatest(count, count_low), coalesce(CAST(count_high AS DOUBLE), count)) END AS count,
  count_spread, count_low, count_high
FROM figure
