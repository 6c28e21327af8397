-- title: The number of classes of each size.
-- paper: the distribution behind C_AVG, LeFevre et al., Mondrian multidimensional k-anonymity (2006)
-- falls: no -- sizes grow where classes are merged
-- reads: equivalence_class

-- statement: figures
SELECT CAST(size AS BIGINT) AS size, count(*) AS classes
FROM equivalence_class
GROUP BY CAST(size AS BIGINT)
ORDER BY CAST(size AS BIGINT) ASC NULLS LAST
