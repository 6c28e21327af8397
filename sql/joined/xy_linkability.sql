-- title: No value of Y has a share above max among the rows of a value of X in the join of two releases.
-- paper: Wang and Fung, Anonymizing sequential releases (2006), definition 2
-- parameter: max DECIMAL 0.000001 1 -- the greatest share of a value of Y
-- falls: no -- where more rows match, a share may rise
-- reads: joined

-- statement: figures
SELECT max(share) AS achieved, coalesce(max(share) <= $max, true) AS satisfied
FROM (
  SELECT CAST(j.n AS DOUBLE) / CAST(t.n AS DOUBLE) AS share
  FROM joined AS j
  JOIN (SELECT x, sum(n) AS n FROM joined GROUP BY x) AS t ON t.x = j.x
) AS shares
