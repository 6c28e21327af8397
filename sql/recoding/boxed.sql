-- The combinations of values that lie within the ranges of a region: the {values}, region.
--
-- unseen: the {values}; {regions}: region and the ranges, which the conditions $inside compare; each of the {ranks} has
-- value and rank_0, the rank of a value by which a range is compared, for the column in {ranked}. Of several regions
-- the first is taken. The value 3 lies in the range from 1 to 4 of region 7.
SELECT {unseen.values}, min(box.region) AS region
FROM unseen
JOIN "{ranks}" AS "{of}" ON {unseen.ranked} IS NOT DISTINCT FROM "{of}".value
JOIN "{regions}" AS box ON $inside
GROUP BY {unseen.values}
