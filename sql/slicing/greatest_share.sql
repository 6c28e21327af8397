-- The sensitive value with the greatest share given the values of others: n, rows, text, and their texts; one row.
--
-- source: the rows; $value is the sensitive value, $others are the other values, {others} their names. Of equal shares that
-- of more rows is returned, then the first in the order of texts.
SELECT n, rows, CAST(value AS VARCHAR), CAST({others} AS VARCHAR)
FROM (
  SELECT *, sum(n) OVER (PARTITION BY {others}) AS rows
  FROM (SELECT $value AS value, $others AS "{others}", count(*) AS n FROM source GROUP BY $value, $others) AS counted
) AS shares
ORDER BY (n / rows) DESC NULLS LAST, n DESC NULLS LAST, CAST(value AS VARCHAR) ASC NULLS LAST,
  CAST({others} AS VARCHAR) ASC NULLS LAST
LIMIT 1
