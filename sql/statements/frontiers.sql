-- The frontiers, each with its policy, the number of its candidates, and the number of its efficient candidates.

SELECT
  frontier,
  min(policy) AS policy,
  count(DISTINCT number) AS candidates,
  count(DISTINCT CASE WHEN efficient THEN number END) AS efficient
FROM anon.candidate
GROUP BY frontier
ORDER BY frontier ASC NULLS LAST
