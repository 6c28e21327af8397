-- The rows of the source that have a region: class_id, and the $shown columns of the region as {names}.
--
-- source, placement: the columns that $same compares, and region; {regions}: region, class and the columns shown. Two
-- rows of one region have the same class_id.
SELECT region.class AS class_id, $shown AS "{names}"
FROM source
JOIN placement ON $same
JOIN "{regions}" AS region ON region.region = placement.region
