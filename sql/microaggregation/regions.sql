-- The labels and means of each group: {region}, {labels}, class.
--
-- means: {region} and the means of its rows; row_regions: {row}, {region}; rows: {row} and its values. $labels are the label
-- or the mean of each attribute in a group. Groups with equal labels are one class, named by the first of them.
SELECT *, min({region}) OVER (PARTITION BY {labels}) AS class
FROM (
  SELECT {mean.region}, $labels AS "{labels}"
  FROM means AS mean
  JOIN row_regions AS numbered ON {mean.region} = {numbered.region}
  JOIN rows AS row ON {row.row} = {numbered.row}
  GROUP BY {mean.region}
) AS shown
