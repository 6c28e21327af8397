-- The cost of all rows, and the greatest cost of $limit rows, by attribute and level: attribute, level, two numbers.
--
-- costs: attribute, level, {parts} (the bits of a value), n (its rows), cost (of each row). With values of 2 rows at
-- cost 5 and 3 rows at cost 1, and a limit of 3: 13, 11.
SELECT attribute, level, CAST(coalesce(sum(CAST(cost AS HUGEINT) * n), 0) AS HUGEINT),
  CAST(coalesce(sum(CAST(cost AS HUGEINT) * greatest(0, least(n, $limit - before))), 0) AS HUGEINT)
FROM (
  SELECT *, sum(n) OVER (PARTITION BY attribute, level ORDER BY cost DESC NULLS LAST, {parts} ASC NULLS LAST) - n AS before
  FROM costs
) AS costliest_first
GROUP BY attribute, level
