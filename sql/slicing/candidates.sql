-- For each tuple and each value in the regions that the tuple matches a number proportional to p(t,s): tuple, value,
-- share.
--
-- state: region, the value {subject}, {part} (the known values of its column, if there are any), n; match: tuple,
-- region, {part}, weight, as in `matches`, and $of_part, the rows of the region with the tuple's part.
SELECT match.tuple, candidate.value, sum(match.weight * (candidate.n / $of_part)) AS share
FROM matches AS match
JOIN (
  SELECT region, {part}, {subject} AS value, CAST(CAST(sum(n) AS BIGINT) AS DOUBLE) AS n
  FROM state
  GROUP BY region, {part}, {subject}
) AS candidate ON match.region = candidate.region AND {match.part} = {candidate.part}
GROUP BY match.tuple, candidate.value
