-- Every result of a workload, as it is and as it is estimated. A group that only the source has is lost, with
-- no estimate; one that only the estimate has is invented, with no actual value.
--
-- A bound that is NULL is none. A lost group was said not to be possible.
SELECT
  query_id,
  groups,
  result,
  actual.value AS actual,
  estimated.estimate AS estimated,
  estimated.stderr AS stderr,
  estimated.low AS low,
  estimated.high AS high,
  CASE WHEN actual.value <> 0 THEN abs(estimated.estimate - actual.value) / abs(actual.value) END AS relative_error,
  CASE
    WHEN actual.query_id IS NULL THEN NULL
    WHEN estimated.query_id IS NULL THEN false
    WHEN actual.value IS NULL THEN NULL
    ELSE coalesce(estimated.low <= actual.value, true) AND coalesce(actual.value <= estimated.high, true)
  END AS within,
  CASE
    WHEN actual.query_id IS NULL THEN 'invented'
    WHEN estimated.query_id IS NULL THEN 'lost'
    WHEN estimated.estimate IS NULL THEN 'unknown'
    ELSE 'estimated'
  END AS outcome
FROM actual
FULL JOIN estimated USING (query_id, groups, result)
