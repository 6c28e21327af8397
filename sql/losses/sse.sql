-- rows, released: the number of numbers in the source and in the release. share: 1 minus the variance of the released
-- numbers divided by the variance of the source's numbers. If each released number is the mean of its group this is SSE
-- / SST; NULL if all numbers are equal. Numbers are divided by the greatest of them, whose square is not infinite then.
SELECT
  of_source.n AS rows,
  of_release.n AS released,
  1 - of_release.variance / nullif(of_source.variance, 0) AS share
FROM (
  SELECT count(number) AS n, var_pop(number / greatest) AS variance
  FROM source_number, (SELECT nullif(max(abs(number)), 0) AS greatest FROM source_number) AS scale
) AS of_source, (
  SELECT count(number) AS n, var_pop(number / greatest) AS variance
  FROM release_number, (SELECT nullif(max(abs(number)), 0) AS greatest FROM source_number) AS scale
) AS of_release
