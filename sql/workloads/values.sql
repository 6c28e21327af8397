-- The values of a column that queries can name: rank, from 0 in the order of the values, and text, an SQL literal.
--
-- source: the column {column}. NULL and values whose text is read as another value (typed) are left out. If $bare,
-- numbers have no quotes, except inf and nan, which are not literals; texts and dates are in quotes, such as
-- 'O''Neill'.
WITH known AS (
  SELECT value
  FROM (SELECT DISTINCT {column} AS value FROM source) AS different
  WHERE value = typed(CAST(value AS VARCHAR))
)
SELECT
  CAST(row_number() OVER (ORDER BY value ASC NULLS LAST) - 1 AS BIGINT) AS rank,
  CASE
    WHEN $bare AND isfinite(TRY_CAST(value AS DOUBLE)) THEN CAST(value AS VARCHAR)
    ELSE '''' || replace(CAST(value AS VARCHAR), '''', '''''') || ''''
  END AS text
FROM known
