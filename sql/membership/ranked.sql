-- The people by score: score (the estimated number of rows for each of the people with equal values), room (its upper
-- bound), members (how many of them are in the source), others.
--
-- candidate: query_id and n, the number of people with equal values; compared: the estimate, its upper bound and the
-- rows of the source of each query. People of one score are ordered by room, which is all that is known if the
-- probability of the values is unknown.
SELECT
  CASE WHEN compared.high = 0 THEN -1.0 ELSE round(coalesce(compared.estimated, 0.0) / candidate.n, 9) END AS score,
  round(coalesce(compared.high, 0.0) / candidate.n, 9) AS room,
  sum(least(candidate.n, coalesce(compared.actual, 0))) AS members,
  sum(candidate.n - least(candidate.n, coalesce(compared.actual, 0))) AS others
FROM candidate
JOIN compared USING (query_id)
GROUP BY ALL
