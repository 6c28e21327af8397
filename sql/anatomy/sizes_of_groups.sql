-- The number of groups, the rows of the smallest and of the largest group, and the number of all rows: one row.
--
-- Row i of a region is in group i mod g, so of r rows a group has r // g, and each of the first r mod g groups has one
-- more.
SELECT coalesce(CAST(sum(groups) AS BIGINT), 0), coalesce(min(rows // groups), 0),
  coalesce(max(rows // groups + CASE WHEN rows % groups > 0 THEN 1 ELSE 0 END), 0), coalesce(CAST(sum(rows) AS BIGINT), 0)
FROM groups
