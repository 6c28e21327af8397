-- The count of each query, its spread and its bounds, from sums over the classes of rows.
--
-- summed: query, hits (the expected number of rows that satisfy; NULL if unknown), its variance, and its bounds, low and
-- high.
SELECT
  asked.query_id,
  '[]' AS groups,
  asked.result,
  summed.hits AS estimate,
  CASE WHEN summed.hits IS NOT NULL THEN sqrt(greatest(summed.variance, 0)) END AS spread,
  summed.low AS low,
  summed.high + withheld.rows AS high
FROM asked
JOIN summed USING (query)
CROSS JOIN withheld
