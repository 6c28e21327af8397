-- The figures of a workload. Errors are over the results with an estimate whose true value is not 0. bounds_hit_rate is
-- the share of the results with a true value that are within the bounds; within_2_spreads is the share of the results
-- with a spread whose true value is at most two spreads from the estimate, except for rounding.
WITH counted AS (
  SELECT
    count(*) AS results,
    avg(relative_error) AS mean_relative_error,
    quantile_cont(relative_error, 0.5) AS median_relative_error,
    quantile_cont(relative_error, 0.95) AS relative_error_95,
    avg(CAST(within AS INTEGER)) AS bounds_hit_rate,
    avg(CAST(abs(estimated - actual) <= 2 * spread + 1e-9 * abs(actual) AS INTEGER)) AS within_2_spreads,
    count_if(actual = 0) AS zero_actual,
    count_if(outcome = 'refused' OR (outcome = 'unknown' AND actual IS NOT NULL)) AS not_estimated,
    count_if(outcome = 'lost') AS lost_groups,
    count_if(outcome = 'invented') AS invented_groups
  FROM query_error
)
SELECT figure, value
FROM (
  SELECT unnest([
    {'place': 1, 'figure': 'queries', 'value': CAST(queries AS DOUBLE)},
    {'place': 2, 'figure': 'results', 'value': CAST(results AS DOUBLE)},
    {'place': 3, 'figure': 'mean_relative_error', 'value': CAST(mean_relative_error AS DOUBLE)},
    {'place': 4, 'figure': 'median_relative_error', 'value': CAST(median_relative_error AS DOUBLE)},
    {'place': 5, 'figure': 'relative_error_95', 'value': CAST(relative_error_95 AS DOUBLE)},
    {'place': 6, 'figure': 'bounds_hit_rate', 'value': CAST(bounds_hit_rate AS DOUBLE)},
    {'place': 7, 'figure': 'within_2_spreads', 'value': CAST(within_2_spreads AS DOUBLE)},
    {'place': 8, 'figure': 'zero_actual', 'value': CAST(zero_actual AS DOUBLE)},
    {'place': 9, 'figure': 'not_estimated', 'value': CAST(not_estimated AS DOUBLE)},
    {'place': 10, 'figure': 'lost_groups', 'value': CAST(lost_groups AS DOUBLE)},
    {'place': 11, 'figure': 'invented_groups', 'value': CAST(invented_groups AS DOUBLE)}
  ], recursive := true) FROM counted CROSS JOIN workload
) AS figures
ORDER BY place ASC NULLS LAST
