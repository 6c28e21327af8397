-- The labels of values in groups of about equally many rows: value and {levels}, the first and the last value of the
-- group.
--
-- source: {column}. The k-th of $counts groups has the values whose middle row is in the k-th part of all rows: with
-- 1,000 rows and 4 groups, a value of the rows 201 to 300 is in the second group. $keys are the values that are
-- counted.
WITH counted AS (
  SELECT $value AS value, $sorted AS sorted, CAST(count(*) AS HUGEINT) AS n
  FROM source
  WHERE {column} IS NOT NULL
  GROUP BY $keys
), placed AS (
  SELECT
    value, sorted,
    -- Twice the number, in sorted order, of the middle row of those with the value.
    CAST(
      2 * sum(n) OVER (
        ORDER BY sorted ASC NULLS LAST, value ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) - n AS HUGEINT
    ) AS middle,
    CAST(sum(n) OVER () AS HUGEINT) AS total
  FROM counted
), numbered AS (
  SELECT value, sorted, middle * $counts // (2 * total) AS "{groups}"
  FROM placed
)
SELECT value, $labels AS "{levels}"
FROM numbered
