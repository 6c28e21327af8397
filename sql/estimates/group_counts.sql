-- The rows of each group of a table for each query: query, place, component, satisfying, total, possible, open, always.
--
-- matched: query, n, certain, and the table's {group}, {satisfying} and {total}. `satisfying` of the `total` rows of the
-- group satisfy the condition on this table. Of the release's rows in the group `possible` may satisfy the query, `open`
-- may or may not, and `always` satisfy the conditions on all other tables ($others_hold). Bounds are computed for each
-- component: a bucket that all tables share, or all rows if tables have groups of their own.
SELECT
  query,
  $place AS place,
  $component AS component,
  {satisfying} AS satisfying,
  {total} AS total,
  CAST(sum(n) AS BIGINT) AS possible,
  CAST(sum(CASE WHEN certain THEN 0 ELSE n END) AS BIGINT) AS open,
  CAST(sum(CASE WHEN $others_hold THEN n ELSE 0 END) AS BIGINT) AS always
FROM matched
GROUP BY query, {group}, {satisfying}, {total}
