-- The regions with the attribute (dim) of the greatest gain and its median; of equal gains the widest, then the first.
--
-- gained: region, dim, median, gain, width, as gains.sql returns them. dim is NULL for a region without a cut. Returns
-- {columns}, dim, median.
SELECT {region.columns}, ranked.dim, ranked.median
FROM regions AS region
LEFT JOIN (
  SELECT *, row_number() OVER (PARTITION BY region
    ORDER BY gain DESC NULLS LAST, width DESC NULLS LAST, dim ASC NULLS LAST) AS rank
  FROM gained
) AS ranked ON region.region = ranked.region AND ranked.rank = 1
