-- The first attribute in which the rows of a region vary most: region, attribute. regions: region, row_no, {positions}.
--
-- Counterfeits, which have no row_no, do not count. Variances that are less than $alike of the greatest are less. The
-- variances 0.2 and 0.3 of two $attributes choose 1.
SELECT region, CASE WHEN {variances} >= greatest({variances}) * $alike THEN $attributes END AS attribute
FROM (
  SELECT region, var_pop({positions}) FILTER (WHERE row_no IS NOT NULL) AS "{variances}" FROM regions GROUP BY region
) AS span
