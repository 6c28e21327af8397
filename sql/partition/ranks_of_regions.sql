-- A row for each region: region, and for each attribute its least and greatest rank other than NULL's, and whether it has
-- NULL ({least}, {most}, {with_null}).
--
-- points: region and the attributes' ranks, {rank}; $nulls are the ranks of NULL, -1 where no value is NULL. Ranks 3, 5 and
-- 9, of which 9 is NULL's: 3, 5, true.
SELECT region, min(CASE WHEN NOT {rank} = $nulls THEN {rank} END) AS "{least}",
  max(CASE WHEN NOT {rank} = $nulls THEN {rank} END) AS "{most}", bool_or({rank} = $nulls) AS "{with_null}"
FROM points
GROUP BY region
