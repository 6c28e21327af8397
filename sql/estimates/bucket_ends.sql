-- The rows from which figures.sql computes the bounds of sums over buckets, in the columns of estimate.sql.
--
-- item: the rows of bucket_items.sql; bound: low and high, the least and the greatest number of rows of a component
-- that satisfy. The sum of these rows is least if they have the least numbers, and if rows beyond `low` satisfy only
-- where they lower it: so the numbers are put in order, the first `low` of them count for certain, and the others up to
-- `high` may. The greatest sum is computed in the same way in the other order.
WITH capped AS (
  SELECT
    component, key, number, unit, part, must, least, greatest,
    least(room, sum(n) OVER least_first) - least(room, sum(n) OVER least_first - n) AS below_n,
    least(room, sum(n) OVER greatest_first) - least(room, sum(n) OVER greatest_first - n) AS above_n
  FROM item
  WINDOW
    least_first AS (PARTITION BY component, key, number, part ORDER BY least ASC NULLS FIRST ROWS UNBOUNDED PRECEDING),
    greatest_first AS (PARTITION BY component, key, number, part ORDER BY greatest DESC NULLS FIRST ROWS UNBOUNDED PRECEDING)
), ranked AS (
  SELECT
    *,
    sum(below_n) OVER least_first AS below_upto,
    sum(above_n) OVER greatest_first AS above_upto
  FROM capped
  WINDOW
    least_first AS (
      PARTITION BY component, key, number ORDER BY must DESC NULLS LAST, least ASC NULLS FIRST ROWS UNBOUNDED PRECEDING
    ),
    greatest_first AS (
      PARTITION BY component, key, number ORDER BY must DESC NULLS LAST, greatest DESC NULLS FIRST ROWS UNBOUNDED PRECEDING
    )
), taken AS (
  SELECT ranked.key, ranked.number, unit, least AS value, true AS below, CAST(low AS HUGEINT) AS low, CAST(high AS HUGEINT) AS high,
    below_upto AS upto, below_upto - below_n AS before
  FROM ranked
  JOIN bound ON ranked.component IS NOT DISTINCT FROM CAST(bound.component AS VARCHAR)
    AND ranked.key IS NOT DISTINCT FROM bound.key AND ranked.number = bound.number
  UNION ALL
  SELECT ranked.key, ranked.number, unit, greatest AS value, false AS below, CAST(low AS HUGEINT) AS low, CAST(high AS HUGEINT) AS high,
    above_upto AS upto, above_upto - above_n AS before
  FROM ranked
  JOIN bound ON ranked.component IS NOT DISTINCT FROM CAST(bound.component AS VARCHAR)
    AND ranked.key IS NOT DISTINCT FROM bound.key AND ranked.number = bound.number
), divided AS (
  SELECT key, number, unit, value, below, true AS certain, least(upto, low) - least(before, low) AS n
  FROM taken
  UNION ALL
  SELECT key, number, unit, value, below, false AS certain,
    least(upto, high) - least(before, high) - (least(upto, low) - least(before, low)) AS n
  FROM taken
)
SELECT
  CAST(NULL AS BIGINT) AS id,
  key, number, unit, n, certain,
  false AS possible,
  below,
  NOT below AS above,
  0.0::DOUBLE AS p,
  0.0::DOUBLE AS first,
  0.0::DOUBLE AS second,
  value AS least,
  value AS greatest
FROM divided
WHERE n > 0
