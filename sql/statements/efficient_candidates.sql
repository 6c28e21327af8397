-- The efficient candidates of a frontier, which no other candidate dominates. A candidate dominates another if it is
-- not greater in any figure and less in one. So equal candidates are all efficient, and a candidate that lacks a figure
-- is neither efficient nor does it dominate any. Li and Li, On the tradeoff between privacy and utility in data
-- publishing (2009), section 4: the efficient frontier.

WITH figure AS (
  SELECT number, figure, value FROM anon.candidate WHERE frontier = ?
), complete AS (
  SELECT number FROM figure GROUP BY number HAVING count(*) = count(value)
), compared AS (
  SELECT number, figure, value FROM figure WHERE number IN (SELECT number FROM complete)
), dominated AS (
  SELECT b.number
  FROM compared AS a
  JOIN compared AS b ON a.figure = b.figure
  GROUP BY a.number, b.number
  HAVING bool_and(a.value <= b.value) AND bool_or(a.value < b.value)
)
SELECT number
FROM complete
WHERE number NOT IN (SELECT number FROM dominated)
ORDER BY number ASC NULLS LAST
