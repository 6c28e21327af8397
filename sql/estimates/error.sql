-- Every result of a workload, with its true value and its estimate.
--
-- A group that only the source has, or that HAVING keeps on the source alone, is lost, and has no estimate. A group
-- that only the estimate has is invented, and has no true value. All results of a query that the release cannot answer
-- are refused. A bound of NULL means no bound. If a group is not in the answer before HAVING, its rows are withheld
-- rows, or rows whose group is unknown: room is the greatest number of such rows.
SELECT
  query_id,
  coalesce(groups, '[]') AS groups,
  coalesce(result, '') AS result,
  actual.value AS actual,
  CASE WHEN estimated.kept THEN estimated.estimate END AS estimated,
  CASE WHEN estimated.kept THEN estimated.spread END AS spread,
  estimated.low AS low,
  estimated.high AS high,
  CASE WHEN actual.value <> 0 AND estimated.kept THEN
    CASE WHEN isfinite(actual.value) AND isfinite(estimated.estimate)
      THEN abs(estimated.estimate - actual.value) / abs(actual.value) END
  END AS relative_error,
  CASE
    WHEN refused.query_id IS NOT NULL OR actual.query_id IS NULL THEN NULL
    WHEN estimated.query_id IS NULL AND room.query_id IS NULL THEN false
    WHEN estimated.query_id IS NULL AND room.room IS NULL THEN true
    WHEN estimated.query_id IS NULL THEN room.room > 0 AND (NOT room.counts OR actual.value <= room.room)
    WHEN actual.value IS NULL THEN NULL
    ELSE coalesce(estimated.low <= actual.value, true) AND coalesce(actual.value <= estimated.high, true)
  END AS within,
  CASE
    WHEN refused.query_id IS NOT NULL THEN 'refused'
    WHEN actual.query_id IS NULL THEN 'invented'
    WHEN estimated.query_id IS NULL OR NOT estimated.kept THEN 'lost'
    WHEN estimated.estimate IS NULL THEN 'unknown'
    ELSE 'estimated'
  END AS outcome
FROM actual
FULL JOIN estimated USING (query_id, groups, result)
FULL JOIN refused USING (query_id)
LEFT JOIN room USING (query_id, result)
WHERE actual.query_id IS NOT NULL OR estimated.kept OR refused.query_id IS NOT NULL
