-- The number of rows of a fragment with a group, the number of all its rows, the least and the greatest group, and the
-- rows of the smallest and of the largest group: one row of six numbers.
SELECT CAST(sum(n) AS BIGINT), CAST(sum(rows) AS BIGINT), min(group_id), max(group_id), min(n), max(n)
FROM (
  SELECT {fragment.group} AS group_id, count({fragment.group}) AS n, count(*) AS rows FROM fragment GROUP BY {fragment.group}
) AS counted
