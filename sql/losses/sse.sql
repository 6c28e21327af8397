-- rows, released: how many numbers the source and the release have.
-- share: what the variance of the released numbers lacks of that of the source's numbers, as a share of the latter. Where
-- each released number is the mean of its group this is SSE / SST; NULL where all numbers are equal.
-- Numbers are divided by the greatest of them, whose square is no infinite number then.
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
