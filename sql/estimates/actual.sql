-- What each aggregate of each query comes to on the source. counted has what was counted and added up of the
-- rows that satisfy a query, and no row for a query that none satisfies.
SELECT
  asked.query_id,
  '[]' AS groups,
  asked.result,
  CASE asked.function
    WHEN 'count' THEN coalesce(counted.rows, 0)
    WHEN 'sum' THEN counted.total
    WHEN 'avg' THEN counted.total / nullif(counted.rows, 0)
    WHEN 'min' THEN counted.least
    WHEN 'max' THEN counted.greatest
  END AS value
FROM asked
LEFT JOIN counted USING (query)
