-- The number at which the rows of each value begin to be counted when they are assigned to groups.
--
-- counts: region, code, n, draw (random bits); groups: the table of groups.sql. `before` rows are sorted before the
-- first row of the value. At most `groups` rows of each value, `spread`, are numbered from `first`, value after value
-- in a random order; its other rows are numbered from `behind`, after these rows of all values. So each group has as
-- many different values as possible. Returns region, code, spread, groups, base, before, first, behind.
SELECT region, code, spread, groups, base,
  CAST(sum(n) OVER (ORDER BY region ASC NULLS LAST, code ASC NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) - n AS before,
  CAST(sum(spread) OVER (PARTITION BY region ORDER BY draw ASC NULLS LAST, code ASC NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) - spread AS first,
  CAST(sum(spread) OVER (PARTITION BY region) AS BIGINT)
    + CAST(sum(n - spread) OVER (PARTITION BY region ORDER BY draw ASC NULLS LAST, code ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) - (n - spread) AS behind
FROM (
  SELECT value.region, value.code, value.n, value.draw, region.groups, region.base,
    least(value.n, region.groups) AS spread
  FROM counts AS value
  JOIN groups AS region ON value.region = region.region
) AS joined
