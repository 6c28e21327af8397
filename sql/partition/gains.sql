-- For each region and attribute (dim) the cut that gains most information about a target, if there is a cut.
--
-- counted: region, dim, width, value, target, n, the rows of each region by their value in an attribute and their
-- target. $of_below and similar names are n log2 n of the number that they name, whole numbers, so that sums do not
-- depend on the order of rows. Both halves have $least rows or more. Of cuts with equal gains the cut is taken whose
-- halves differ least in rows, then the cut with the smaller lower half. Returns region, dim, median (the greatest
-- value of the lower half), gain, width.
WITH by_target AS (
  SELECT *, whole - below AS above, below - n AS before, whole - below + n AS after
  FROM (
    SELECT *, sum(n) OVER (PARTITION BY region, dim, target ORDER BY value ASC NULLS LAST) AS below,
      sum(n) OVER (PARTITION BY region, dim, target) AS whole
    FROM counted
  ) AS counted
), by_value AS (
  SELECT region, dim, value, max(width) AS width, sum($of_below - $of_before + $of_above - $of_after) AS added, sum(n) AS n
  FROM by_target
  GROUP BY region, dim, value
), running AS (
  SELECT region, dim, value, width, lower, rows - lower AS upper, information
  FROM (
    SELECT region, dim, value, width,
      sum(added) OVER (PARTITION BY region, dim ORDER BY value ASC NULLS LAST) AS information,
      sum(n) OVER (PARTITION BY region, dim ORDER BY value ASC NULLS LAST) AS lower,
      sum(n) OVER (PARTITION BY region, dim) AS rows
    FROM by_value
  ) AS summed
), ranked AS (
  SELECT *, row_number() OVER (PARTITION BY region, dim
    ORDER BY gain DESC NULLS LAST, abs(upper - lower) ASC NULLS LAST, lower ASC NULLS LAST) AS rank
  FROM (
    SELECT *, CAST(information - $of_lower - $of_upper AS HUGEINT) AS gain
    FROM running
    WHERE lower >= $least AND upper >= $least
  ) AS possible
)
SELECT region, dim, value AS median, gain, width
FROM ranked
WHERE rank = 1
