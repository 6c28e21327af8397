-- People who are alike, how many rows are estimated to be each one's, and how many of them are in the source.
--
-- candidate has n people whom query_id asks about, compared the estimate, its upper bound and the rows of the source. People of one
-- score are told apart by the bound (room), which is all that is known where nobody can say how likely values are.
SELECT
  CASE WHEN compared.high = 0 THEN -1.0 ELSE round(coalesce(compared.estimated, 0.0) / candidate.n, 9) END AS score,
  round(coalesce(compared.high, 0.0) / candidate.n, 9) AS room,
  sum(least(candidate.n, coalesce(compared.actual, 0))) AS members,
  sum(candidate.n - least(candidate.n, coalesce(compared.actual, 0))) AS others
FROM candidate
JOIN compared USING (query_id)
GROUP BY ALL
