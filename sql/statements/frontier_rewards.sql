-- Rewards of the candidates of a frontier of two figures: the decrease of the second figure from the best candidate
-- whose first figure is 0, for each unit of the first figure. After the capital asset pricing model, with that
-- candidate as the asset without risk: at the efficient candidate with the greatest reward, a line from that candidate
-- touches the frontier. No row if the first figure of no candidate is 0.

WITH axis AS (
  SELECT figure, row_number() OVER (ORDER BY min(rowid) ASC NULLS LAST) AS place
  FROM anon.candidate
  WHERE frontier = $1
  GROUP BY figure
), point AS (
  SELECT
    number,
    max(CASE WHEN place = 1 THEN value END) AS x,
    max(CASE WHEN place = 2 THEN value END) AS y
  FROM anon.candidate
  JOIN axis USING (figure)
  WHERE frontier = $1
  GROUP BY number
  HAVING count(*) = 2
), without_risk AS (
  SELECT min(y) AS y FROM point WHERE x = 0
)
SELECT point.number, (without_risk.y - point.y) / point.x AS reward
FROM point
CROSS JOIN without_risk
WHERE point.x > 0 AND without_risk.y IS NOT NULL AND point.y IS NOT NULL
ORDER BY point.number ASC NULLS LAST
