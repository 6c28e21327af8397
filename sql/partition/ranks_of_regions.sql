-- A row for each region: region, and for each attribute its least and greatest rank other than NULL's, and whether it has
-- NULL ({least}, {most}, {with_null}).
--
-- points: region and the attributes' {ranks}; $nulls are the ranks of NULL, -1 where no value is NULL. Ranks 3, 5 and 9, of
-- which 9 is NULL's: 3, 5, true. Each rank of NULL is looked up once: planning a subquery takes as long as reading many
-- points.
SELECT point.region, $ranges
FROM points AS point
CROSS JOIN (SELECT coalesce($nulls, -1) AS "{nulls}") AS nulls
GROUP BY point.region
