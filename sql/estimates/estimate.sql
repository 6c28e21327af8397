-- For each group (key) and each aggregate (number) every figure that can be estimated.
--
-- combination has a row for each class of released rows that agree in what they show (id, n
-- rows) and each combination of leaves below its labels: its share of all of them, whether
-- rows there satisfy the query, and what their values come to. withheld has one row, the
-- number of rows that the release leaves out, NULL where nobody knows. bound has what
-- counts are bounded by besides: the sums of buckets (dealt.sql), or nothing.
--
-- A row satisfies with the probability p, its value counts with the expectation `first` and
-- the second moment `second`. Rows are independent of each other, so variances add up. The
-- standard error of a ratio r = y / x is that of y - r x over x (Cochran, Sampling
-- techniques, 1977, section 6.4). A row that satisfies with every leaf is certain, one that
-- does with some is possible.
WITH counted AS (
  SELECT
    *,
    count(*) OVER (PARTITION BY id, number) AS combinations,
    bool_or(share IS NULL) OVER (PARTITION BY id, number) AS unknown
  FROM combination
), class AS (
  SELECT
    id, key, number,
    any_value(n) AS n,
    count_if(holds) = any_value(combinations) AS certain,
    count_if(holds) > 0 AS possible,
    CASE
      WHEN count_if(holds) = any_value(combinations) THEN 1.0
      WHEN count_if(holds) = 0 THEN 0.0
      WHEN any_value(unknown) THEN NULL
      ELSE least(1.0, sum(share) FILTER (WHERE holds))
    END AS p,
    CASE
      WHEN count_if(holds) = 0 THEN 0.0
      WHEN any_value(unknown) OR count_if(holds AND share > 0 AND mean IS NULL) > 0 THEN NULL
      ELSE coalesce(sum(share * mean) FILTER (WHERE holds AND share > 0), 0.0)
    END AS first,
    CASE
      WHEN count_if(holds) = 0 THEN 0.0
      WHEN any_value(unknown) OR count_if(holds AND share > 0 AND mean IS NULL) > 0 THEN NULL
      ELSE coalesce(sum(share * square) FILTER (WHERE holds AND share > 0), 0.0)
    END AS second,
    CASE WHEN count_if(holds AND least IS NULL) = 0 THEN min(least) FILTER (WHERE holds) END AS least,
    CASE WHEN count_if(holds AND greatest IS NULL) = 0 THEN max(greatest) FILTER (WHERE holds) END AS greatest
  FROM counted
  GROUP BY id, key, number
), pinned AS (
  SELECT
    * EXCLUDE (first, second),
    CASE WHEN certain AND least = greatest THEN least ELSE first END AS first,
    CASE WHEN certain AND least = greatest THEN least * least ELSE second END AS second
  FROM class
), known AS (
  SELECT *, p IS NULL AS no_p, first IS NULL AS no_first FROM pinned
), total AS (
  SELECT
    key, number,
    CASE WHEN bool_or(no_p) THEN NULL ELSE sum(n * p) END AS hits,
    CASE WHEN bool_or(no_p) THEN NULL ELSE sum(n * p * (1 - p)) END AS hits_variance,
    sum(CASE WHEN certain THEN n ELSE 0 END) AS certain_rows,
    sum(CASE WHEN possible THEN n ELSE 0 END) AS possible_rows,
    CASE WHEN bool_or(no_first) THEN NULL ELSE sum(n * first) END AS value,
    CASE WHEN bool_or(no_first) THEN NULL ELSE greatest(sum(n * (second - first * first)), 0) END AS value_variance,
    CASE WHEN bool_or(no_p OR no_first) THEN NULL ELSE sum(n * first * (1 - p)) END AS covariance,
    CASE WHEN count_if(possible AND least IS NULL) = 0
      THEN sum(n * CASE WHEN certain THEN least WHEN possible THEN least(least, 0) ELSE 0 END) END AS value_low,
    CASE WHEN count_if(possible AND greatest IS NULL) = 0
      THEN sum(n * CASE WHEN certain THEN greatest WHEN possible THEN greatest(greatest, 0) ELSE 0 END) END AS value_high,
    sum(n * least) FILTER (WHERE certain) AS certain_low,
    sum(n * greatest) FILTER (WHERE certain) AS certain_high,
    CASE WHEN count_if(possible AND least IS NULL) = 0 THEN min(least) FILTER (WHERE possible) END AS possible_least,
    CASE WHEN count_if(possible AND greatest IS NULL) = 0 THEN max(greatest) FILTER (WHERE possible) END AS possible_most,
    min(greatest) FILTER (WHERE certain) AS least_certain,
    max(least) FILTER (WHERE certain) AS most_certain,
    CASE WHEN bool_or(no_p OR no_first) THEN NULL
      ELSE coalesce(min(first / p) FILTER (WHERE p > 0.499999999999), min(first / p) FILTER (WHERE p > 0)) END AS expected_min,
    CASE WHEN bool_or(no_p OR no_first) THEN NULL
      ELSE coalesce(max(first / p) FILTER (WHERE p > 0.499999999999), max(first / p) FILTER (WHERE p > 0)) END AS expected_max
  FROM known
  GROUP BY key, number
), lowest AS (
  -- The least mean that any choice of the possible rows has: all certain rows, and of the
  -- others those of the least values, as many as lower it.
  SELECT
    key, number,
    sum(n * least) OVER (PARTITION BY key, number ORDER BY least ROWS UNBOUNDED PRECEDING) AS added,
    sum(n) OVER (PARTITION BY key, number ORDER BY least ROWS UNBOUNDED PRECEDING) AS added_rows
  FROM known
  WHERE possible AND NOT certain
), highest AS (
  SELECT
    key, number,
    sum(n * greatest) OVER (PARTITION BY key, number ORDER BY greatest DESC ROWS UNBOUNDED PRECEDING) AS added,
    sum(n) OVER (PARTITION BY key, number ORDER BY greatest DESC ROWS UNBOUNDED PRECEDING) AS added_rows
  FROM known
  WHERE possible AND NOT certain
), mean_low AS (
  SELECT key, number, min(mean) AS low
  FROM (
    SELECT key, number, certain_low / nullif(certain_rows, 0) AS mean FROM total
    UNION ALL
    SELECT total.key, total.number, (coalesce(certain_low, 0) + added) / (certain_rows + added_rows) AS mean
    FROM total JOIN lowest ON total.key IS NOT DISTINCT FROM lowest.key AND total.number = lowest.number
  ) AS choice
  GROUP BY key, number
), mean_high AS (
  SELECT key, number, max(mean) AS high
  FROM (
    SELECT key, number, certain_high / nullif(certain_rows, 0) AS mean FROM total
    UNION ALL
    SELECT total.key, total.number, (coalesce(certain_high, 0) + added) / (certain_rows + added_rows) AS mean
    FROM total JOIN highest ON total.key IS NOT DISTINCT FROM highest.key AND total.number = highest.number
  ) AS choice
  GROUP BY key, number
)
SELECT
  total.key,
  total.number,
  possible_rows > 0 AS possible,
  CAST(hits AS DOUBLE) AS count,
  sqrt(hits_variance) AS count_stderr,
  CAST(coalesce(bound.low, certain_rows) AS BIGINT) AS count_low,
  CAST(coalesce(bound.high, possible_rows) + withheld.rows AS BIGINT) AS count_high,
  CASE WHEN possible_rows > 0 THEN value END AS sum,
  CASE WHEN possible_rows > 0 THEN sqrt(value_variance) END AS sum_stderr,
  CASE WHEN withheld.rows = 0 AND possible_rows > 0 THEN value_low END AS sum_low,
  CASE WHEN withheld.rows = 0 AND possible_rows > 0 THEN value_high END AS sum_high,
  value / nullif(hits, 0) AS avg,
  sqrt(
    greatest(
      value_variance - 2 * (value / nullif(hits, 0)) * covariance
        + (value / nullif(hits, 0)) * (value / nullif(hits, 0)) * hits_variance,
      0
    )
  ) / nullif(hits, 0) AS avg_stderr,
  CASE WHEN withheld.rows = 0 AND possible_least IS NOT NULL THEN mean_low.low END AS avg_low,
  CASE WHEN withheld.rows = 0 AND possible_most IS NOT NULL THEN mean_high.high END AS avg_high,
  expected_min AS min,
  CAST(NULL AS DOUBLE) AS min_stderr,
  CASE WHEN withheld.rows = 0 THEN possible_least END AS min_low,
  CASE WHEN certain_rows > 0 THEN least_certain WHEN withheld.rows = 0 THEN possible_most END AS min_high,
  expected_max AS max,
  CAST(NULL AS DOUBLE) AS max_stderr,
  CASE WHEN certain_rows > 0 THEN most_certain WHEN withheld.rows = 0 THEN possible_least END AS max_low,
  CASE WHEN withheld.rows = 0 THEN possible_most END AS max_high
FROM total
JOIN mean_low ON total.key IS NOT DISTINCT FROM mean_low.key AND total.number = mean_low.number
JOIN mean_high ON total.key IS NOT DISTINCT FROM mean_high.key AND total.number = mean_high.number
LEFT JOIN bound ON total.key IS NOT DISTINCT FROM bound.key AND total.number = bound.number
CROSS JOIN withheld
