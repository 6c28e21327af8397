-- Slopes of the efficient frontier of two figures: the decrease of the second figure for each unit of increase of the
-- first, from the nearest efficient candidate with less of the first figure. Equal candidates are one point. No row for
-- a frontier of one figure or of more than two. Li and Li, On the tradeoff between privacy and utility in data
-- publishing (2009), section 4.

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
  WHERE frontier = $1 AND efficient
  GROUP BY number
  HAVING count(*) = 2
), neighbours AS (
  SELECT x, y, lag(x) OVER (ORDER BY x ASC NULLS LAST) AS x_before, lag(y) OVER (ORDER BY x ASC NULLS LAST) AS y_before
  FROM (SELECT DISTINCT x, y FROM point) AS distinct_point
)
SELECT number, (y_before - y) / (x - x_before) AS slope
FROM point
JOIN neighbours USING (x, y)
WHERE x > x_before
ORDER BY number ASC NULLS LAST
