-- The regions after an attempt: both halves of each region that was cut, and the other regions with the attribute (dim)
-- tried.
--
-- regions: region, labels, rows, tried, dim, {bounds}; children: the halves; failing: the regions that this attribute
-- cannot cut. A part of a region has the label 3 region + 0, 1 or 2. Returns region (from 0), labels, rows, tried,
-- {bounds}.
SELECT CAST(row_number() OVER () - 1 AS BIGINT) AS region, *
FROM (
  SELECT labels, rows, CAST(0 AS BIGINT) AS tried, {bounds}
  FROM children
  WHERE NOT region IN (SELECT region FROM failing)
  UNION ALL
  SELECT [CAST(region * 3 AS INTEGER), CAST(region * 3 + 1 AS INTEGER), CAST(region * 3 + 2 AS INTEGER)] AS labels, rows,
    tried | (CAST(1 AS BIGINT) << dim) AS tried, {bounds}
  FROM regions
  WHERE region IN (SELECT region FROM failing)
) AS both
