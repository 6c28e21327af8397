-- For each region the cut nearest to the median, of each attribute ({dim}) or of the widest only: number, label, best.
--
-- running: label, dim, value, lower, rows, as running.sql returns them, and narrow, minus the region's width in the
-- attribute. Both halves have $least rows or more. The least `best` of a region belongs to its widest attribute, of
-- equally wide ones to the first; its `median` is the greatest value of the lower half. Returns the regions' labels,
-- numbered from 0.
SELECT CAST(row_number() OVER () - 1 AS INTEGER) AS number, label, best
FROM (
  SELECT label, min({'narrow': narrow, 'dim': dim, 'apart': abs((rows - lower) - lower), 'lower': lower, 'median': value})
    AS best
  FROM cut
  WHERE lower >= $least AND rows - lower >= $least
  GROUP BY label, {dim}
) AS best_of_region
