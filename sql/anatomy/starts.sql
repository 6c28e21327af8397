-- From which number on the rows with a value are counted when they are dealt out.
--
-- counts: region, code, n, draw (random bits); groups: that of groups.sql. `before` rows are sorted before the first with
-- the value. Of each value `spread` rows, as many as there are groups, are numbered from `first`, value after value in a
-- random order; the others from `behind`, after those of all values. So each group has as many different values as can be.
-- Returns region, code, spread, groups, base, before, first, behind.
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
