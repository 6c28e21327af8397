-- Every figure that can be estimated, for each group (key) and each aggregate (number).
--
-- class has n rows that show the same: whether they satisfy for certain, whether they may satisfy, the probability p
-- that each does, NULL if unknown, the expectation `first` of its value and `second` of the value's square, where a row
-- that does not satisfy counts as 0, and the least and the greatest value that a row may have, NULL without a limit.
-- The last two are whole numbers of parts, of which `unit` make 1, or DOUBLE with a unit of NULL. withheld has one row,
-- the number of rows that the release leaves out, NULL if unknown. bound has further bounds of counts: the sums of
-- buckets (bucket_bounds.sql), or no row.
--
-- Estimates are computed from the `possible` rows, bounds from the rows `below` and `above`. These are the same rows,
-- except for numbers in buckets (bucket_ends.sql).
--
-- Rows are independent of each other, so variances add up, except for the variances in variance (bucket_variances.sql).
-- The standard error of a ratio r = y / x is the standard error of y - r x, divided by x (Cochran, Sampling techniques,
-- 1977, section 6.4).
--
-- Bounds are exact if the numbers are, and rounded outward otherwise. A sum of n DOUBLE is off by at most n 2^-53 times
-- the sum of their magnitudes, whatever their order (Higham, Accuracy and stability of numerical algorithms, 2002,
-- section 4.2); both the answer and its bounds are such sums. Numbers on a grid of 1/1024 are added up exactly.
WITH known AS (
  SELECT
    key, number, unit, n, certain, possible, below, above, p, least, greatest,
    CASE WHEN certain AND possible AND least = greatest THEN CAST(least AS DOUBLE) / coalesce(unit, 1) ELSE first END AS first,
    CASE WHEN certain AND possible AND least = greatest THEN 0.0::DOUBLE ELSE second - first * first END AS spread,
    -- Longer numbers would overflow when they are added up.
    CASE WHEN unit IS NULL OR least BETWEEN -1000000000000000000000000000 AND 1000000000000000000000000000 THEN least END
      AS low,
    CASE WHEN unit IS NULL OR greatest BETWEEN -1000000000000000000000000000 AND 1000000000000000000000000000 THEN greatest END
      AS high
  FROM class
), total AS (
  SELECT
    key, number,
    any_value(unit) AS unit,
    CASE WHEN bool_or(p IS NULL) THEN NULL ELSE sum(n * p) END AS hits,
    CASE WHEN bool_or(p IS NULL) THEN NULL ELSE sum(n * p * (1 - p)) END AS hits_variance,
    coalesce(sum(n) FILTER (WHERE certain AND possible), 0) AS certain_rows,
    coalesce(sum(n) FILTER (WHERE possible), 0) AS possible_rows,
    CASE WHEN bool_or(first IS NULL) THEN NULL ELSE sum(n * first) END AS value,
    CASE WHEN bool_or(first IS NULL) THEN NULL ELSE sum(n * spread) END AS value_variance,
    CASE WHEN bool_or(p IS NULL OR first IS NULL) THEN NULL ELSE sum(n * first * (1 - p)) END AS covariance,
    count_if(below AND low IS NULL) = 0 AS has_low,
    count_if(above AND high IS NULL) = 0 AS has_high,
    sum(n * CASE WHEN certain THEN low ELSE least(low, 0) END) FILTER (WHERE below) AS value_low,
    sum(n * CASE WHEN certain THEN high ELSE greatest(high, 0) END) FILTER (WHERE above) AS value_high,
    coalesce(sum(n) FILTER (WHERE certain AND below), 0) AS sure_rows,
    sum(n * low) FILTER (WHERE certain AND below) AS certain_low,
    sum(n * high) FILTER (WHERE certain AND above) AS certain_high,
    CASE WHEN count_if(below AND least IS NULL) = 0 THEN min(least) FILTER (WHERE below) END AS possible_least,
    CASE WHEN count_if(above AND greatest IS NULL) = 0 THEN max(greatest) FILTER (WHERE above) END AS possible_most,
    min(greatest) FILTER (WHERE certain AND above) AS least_certain,
    max(least) FILTER (WHERE certain AND below) AS most_certain,
    CASE WHEN bool_or(p IS NULL OR first IS NULL) THEN NULL
      ELSE coalesce(min(first / p) FILTER (WHERE p > 0.499999999999), min(first / p) FILTER (WHERE p > 0)) END AS expected_min,
    CASE WHEN bool_or(p IS NULL OR first IS NULL) THEN NULL
      ELSE coalesce(max(first / p) FILTER (WHERE p > 0.499999999999), max(first / p) FILTER (WHERE p > 0)) END AS expected_max,
    count(*) AS classes,
    max(CASE WHEN unit IS NULL AND possible THEN greatest(abs(low), abs(high)) END) AS most,
    sum(CASE WHEN unit IS NULL AND possible THEN n * greatest(abs(low), abs(high)) END) AS magnitude,
    bool_and(CASE WHEN unit IS NULL AND (below OR above) THEN low * 1024 = trunc(low * 1024) AND high * 1024 = trunc(high * 1024) END)
      AS on_grid
  FROM known
  GROUP BY key, number
), rounding AS (
  SELECT
    *,
    CASE WHEN unit IS NULL AND NOT (on_grid AND magnitude < 8e12)
      THEN (4.0 * possible_rows + 4.0 * classes + 16) * 1.2e-16 ELSE 0.0 END AS slack
  FROM total
), lowest AS (
  -- The least mean that any choice of the possible rows has: all certain rows, and of the
  -- others those of the least values, as many as lower it.
  SELECT key, number, sum(n * low) OVER least_first AS added, sum(n) OVER least_first AS added_rows
  FROM (
    SELECT key, number, low, sum(n) AS n
    FROM known
    WHERE below AND NOT certain AND low IS NOT NULL
    GROUP BY key, number, low
  ) AS open
  WINDOW least_first AS (PARTITION BY key, number ORDER BY low ASC NULLS LAST ROWS UNBOUNDED PRECEDING)
), highest AS (
  SELECT key, number, sum(n * high) OVER greatest_first AS added, sum(n) OVER greatest_first AS added_rows
  FROM (
    SELECT key, number, high, sum(n) AS n
    FROM known
    WHERE above AND NOT certain AND high IS NOT NULL
    GROUP BY key, number, high
  ) AS open
  WINDOW greatest_first AS (PARTITION BY key, number ORDER BY high DESC NULLS LAST ROWS UNBOUNDED PRECEDING)
), choice AS (
  SELECT key, number, unit, -1 AS side, certain_low AS added, sure_rows AS added_rows
  FROM total
  WHERE sure_rows > 0
  UNION ALL
  SELECT key, number, unit, 1 AS side, certain_high AS added, sure_rows AS added_rows
  FROM total
  WHERE sure_rows > 0
  UNION ALL
  SELECT total.key, total.number, unit, -1 AS side, coalesce(certain_low, 0) + added AS added,
    sure_rows + added_rows AS added_rows
  FROM total
  JOIN lowest ON total.key IS NOT DISTINCT FROM lowest.key AND total.number = lowest.number
  UNION ALL
  SELECT total.key, total.number, unit, 1 AS side, coalesce(certain_high, 0) + added AS added,
    sure_rows + added_rows AS added_rows
  FROM total
  JOIN highest ON total.key IS NOT DISTINCT FROM highest.key AND total.number = highest.number
), divided AS (
  SELECT
    key, number, side,
    CAST(added AS DOUBLE) / (CAST(added_rows AS DOUBLE) * coalesce(unit, 1)) AS mean,
    -- Such quotients need no rounding.
    CASE
      WHEN unit IS NULL THEN true
      WHEN abs(CAST(added AS DOUBLE)) < 1e15 AND CAST(added_rows AS DOUBLE) * unit < 1e15
      THEN added * 1024 % (added_rows * unit) = 0
      ELSE false
    END AS exact
  FROM choice
), mean AS (
  SELECT
    key, number,
    min(CASE WHEN exact THEN mean ELSE mean - abs(mean) * 1e-15 - 1e-307 END) FILTER (WHERE side = -1) AS low,
    max(CASE WHEN exact THEN mean ELSE mean + abs(mean) * 1e-15 + 1e-307 END) FILTER (WHERE side = 1) AS high
  FROM divided
  GROUP BY key, number
), figure AS (
  SELECT
    rounding.* EXCLUDE (value, hits_variance, value_variance, covariance),
    coalesce(variance.hits_variance, rounding.hits_variance) AS hits_variance,
    coalesce(variance.value_variance, rounding.value_variance) AS value_variance,
    coalesce(variance.covariance, rounding.covariance) AS covariance,
    withheld.rows AS withheld_rows,
    withheld.rows = 0 AND possible_rows > 0 AND has_low AS whole_low,
    withheld.rows = 0 AND possible_rows > 0 AND has_high AS whole_high,
    CASE WHEN has_low AND has_high AND value_low = value_high THEN CAST(value_low AS DOUBLE) / coalesce(unit, 1) ELSE value END
      AS value,
    CASE WHEN slack > 0 THEN slack * magnitude + 1e-307 ELSE 0 END AS sum_slack,
    CASE WHEN slack > 0 THEN slack * most + 1e-307 ELSE 0 END AS mean_slack,
    mean.low AS mean_low,
    mean.high AS mean_high,
    bound.low AS bound_low,
    bound.high AS bound_high
  FROM rounding
  LEFT JOIN mean ON rounding.key IS NOT DISTINCT FROM mean.key AND rounding.number = mean.number
  LEFT JOIN bound ON rounding.key IS NOT DISTINCT FROM bound.key AND rounding.number = bound.number
  LEFT JOIN variance ON rounding.key IS NOT DISTINCT FROM variance.key AND rounding.number = variance.number
  CROSS JOIN withheld
), figures AS (
  SELECT
    key, number,
    possible_rows > 0 AS possible,
    CAST(hits AS DOUBLE) AS count,
    CASE WHEN hits IS NOT NULL THEN sqrt(greatest(CAST(hits_variance AS DOUBLE), 0)) END AS count_spread,
    CAST(coalesce(bound_low, certain_rows) AS BIGINT) AS count_low,
    CAST(coalesce(bound_high, possible_rows) + withheld_rows AS BIGINT) AS count_high,
    CASE WHEN possible_rows > 0 THEN value END AS sum,
    CASE
      WHEN has_low AND has_high AND value_low = value_high THEN 0.0
      WHEN possible_rows > 0 AND value IS NOT NULL THEN sqrt(greatest(value_variance, 0))
    END AS sum_spread,
    -- What is exact has no slack, and its type stays.
    CASE WHEN whole_low THEN value_low - cast_to_type(sum_slack, value_low) END AS sum_low,
    CASE WHEN whole_high THEN value_high + cast_to_type(sum_slack, value_high) END AS sum_high,
    value / nullif(hits, 0) AS avg,
    CASE WHEN value IS NOT NULL THEN
      sqrt(
        greatest(
          value_variance - 2 * (value / nullif(hits, 0)) * covariance
            + (value / nullif(hits, 0)) * (value / nullif(hits, 0)) * hits_variance,
          0
        )
      ) / nullif(hits, 0)
    END AS avg_spread,
    CASE WHEN whole_low THEN mean_low - mean_slack END AS avg_low,
    CASE WHEN whole_high THEN mean_high + mean_slack END AS avg_high,
    expected_min AS min,
    CASE WHEN withheld_rows = 0 THEN possible_least END AS min_low,
    CASE WHEN sure_rows > 0 THEN least_certain WHEN withheld_rows = 0 THEN possible_most END AS min_high,
    expected_max AS max,
    CASE WHEN sure_rows > 0 THEN most_certain WHEN withheld_rows = 0 THEN possible_least END AS max_low,
    CASE WHEN withheld_rows = 0 THEN possible_most END AS max_high
  FROM figure
)
-- What overflows is not known; a least or a greatest value may be infinite.
SELECT
  key, number, possible,
  -- A sum of shares is rounded: it may come to a little more than the rows that there can be.
  CASE WHEN count IS NOT NULL THEN least(greatest(count, count_low), coalesce(CAST(count_high AS DOUBLE), count)) END AS count,
  count_spread, count_low, count_high,
  CASE WHEN isfinite(sum) THEN sum END AS sum,
  CASE WHEN isfinite(sum_spread) THEN sum_spread END AS sum_spread,
  CASE WHEN isfinite(CAST(sum_low AS DOUBLE)) THEN sum_low END AS sum_low,
  CASE WHEN isfinite(CAST(sum_high AS DOUBLE)) THEN sum_high END AS sum_high,
  CASE WHEN isfinite(avg) THEN avg END AS avg,
  CASE WHEN isfinite(avg_spread) THEN avg_spread END AS avg_spread,
  CASE WHEN isfinite(avg_low) THEN avg_low END AS avg_low,
  CASE WHEN isfinite(avg_high) THEN avg_high END AS avg_high,
  CASE WHEN NOT isnan(min) THEN min END AS min,
  CAST(NULL AS DOUBLE) AS min_spread,
  CASE WHEN NOT isnan(CAST(min_low AS DOUBLE)) THEN min_low END AS min_low,
  CASE WHEN NOT isnan(CAST(min_high AS DOUBLE)) THEN min_high END AS min_high,
  CASE WHEN NOT isnan(max) THEN max END AS max,
  CAST(NULL AS DOUBLE) AS max_spread,
  CASE WHEN NOT isnan(CAST(max_low AS DOUBLE)) THEN max_low END AS max_low,
  CASE WHEN NOT isnan(CAST(max_high AS DOUBLE)) THEN max_high END AS max_high
FROM figures
