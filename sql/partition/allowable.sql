-- The best candidate of each region among the candidates that are not failing: number, label, best.
--
-- candidates: number, label, best; failing: number. Returns the regions' labels, numbered from 0.
SELECT CAST(row_number() OVER () - 1 AS INTEGER) AS number, label, best
FROM (
  SELECT label, min(best) AS best
  FROM candidates
  WHERE NOT number IN (SELECT number FROM failing)
  GROUP BY label
) AS best_of_region
