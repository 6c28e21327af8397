-- The sensitive value with the greatest share among the rows with given other values: n, rows, text, and the other
-- values' texts; one row.
--
-- source: the rows; $value is the sensitive value, $others are the other values, {others} their names. If shares are
-- equal, the value with more rows is returned, then the first in the order of texts.
SELECT n, rows, CAST(value AS VARCHAR), CAST({others} AS VARCHAR)
FROM (
  SELECT *, sum(n) OVER (PARTITION BY {others}) AS rows
  FROM (SELECT $value AS value, $others AS "{others}", count(*) AS n FROM source GROUP BY $value, $others) AS counted
) AS shares
ORDER BY (n / rows) DESC NULLS LAST, n DESC NULLS LAST, CAST(value AS VARCHAR) ASC NULLS LAST,
  CAST({others} AS VARCHAR) ASC NULLS LAST
LIMIT 1
