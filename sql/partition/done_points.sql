-- The points of the regions that are no longer cut: region, counted from $first, and $placed.
--
-- points: label and the columns of a point; regions: region, labels and dim, which is NULL for these regions.
SELECT done.region + $first AS region, $placed
FROM points AS point
JOIN (SELECT region, unnest(labels) AS label FROM regions WHERE dim IS NULL) AS done ON point.label = done.label
