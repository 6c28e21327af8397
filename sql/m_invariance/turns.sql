-- The first attribute in which the rows of a region vary most: region, attribute. regions: region, row_no, {positions}.
--
-- Counterfeits, which have no row_no, do not count. A variance of at least $alike times the greatest counts as equal to
-- it. With the variances 0.2 and 0.3 of two $attributes the attribute is 1.
SELECT region, CASE WHEN {variances} >= most * $alike THEN $attributes END AS attribute
FROM (
  SELECT *, greatest({variances}) AS most
  FROM (
    SELECT region, var_pop({positions}) FILTER (WHERE row_no IS NOT NULL) AS "{variances}" FROM regions GROUP BY region
  ) AS span
) AS compared
