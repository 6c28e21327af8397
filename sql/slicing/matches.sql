-- The regions that a tuple matches: tuple, region, rows, the {parts} and {counts}, the rows with each part, and weight.
--
-- tuples: tuple and the {parts}; state: region, n, the rows of each combination of parts. Each of the {counted}
-- relations, under its name in {of}, has the rows of a region by one part. $weight is the number of rows times the
-- shares of the parts. If 2 of 4 rows of a region have part 5, a tuple with this part alone matches it with the weight
-- 2.
SELECT known.tuple, size.region, size.rows, "{of}"."{parts}", "{of}".n AS "{counts}", $weight AS weight
FROM tuples AS known
JOIN "{counted}" AS "{of}" ON $same
JOIN (
  SELECT region, CAST(CAST(sum(n) AS BIGINT) AS DOUBLE) AS rows FROM state GROUP BY region
) AS size ON $same_region
