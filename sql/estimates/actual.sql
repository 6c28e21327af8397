-- The true value of each aggregate of each query without groups on the source: query_id, groups, result, value.
--
-- asked: query, query_id, result, function; counted: query, the number of rows that satisfy it (rows), and the sum,
-- least and greatest of their values. A query that no row satisfies has no row in counted.
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
