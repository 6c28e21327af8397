-- title: The sizes of classes: the least, the mean and the greatest size, and the discernibility metric, which is the sum over the rows of the sizes of their classes, where a suppressed row counts as all rows of the source.
-- paper: Bayardo and Agrawal, Data privacy through optimal k-anonymization (2005): C_DM; LeFevre et al., Mondrian multidimensional k-anonymity (2006): C_AVG
-- parameter: suppressed BIGINT 0 9000000000000000 DEFAULT 0 -- the rows of the source that are in no class
-- falls: no -- sizes and the metric grow
-- reads: equivalence_class

-- statement: figures
SELECT
  CAST(min(size) AS DOUBLE) AS least_class_size,
  CAST(sum(size) AS DOUBLE) / nullif(CAST(count(*) AS DOUBLE), 0.0) AS average_class_size,
  CAST(max(size) AS DOUBLE) AS greatest_class_size,
  coalesce(sum(CAST(size AS DOUBLE) * size), 0) + CAST($suppressed AS DOUBLE) * ($suppressed + coalesce(sum(size), 0)) AS discernibility
FROM equivalence_class
