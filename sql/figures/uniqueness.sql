-- title: For a sample of a known share of the population: the number of unique rows, and the probability that the only match of a unique row is the right person.
-- paper: Skinner and Elliot, A measure of disclosure risk for microdata (2002): theta, by data intrusion simulation
-- parameter: sampling_fraction DECIMAL 0 1 -- the share of the population that is in the source
-- respondents: yes -- each row counts as a different respondent
-- falls: no -- a union may be a class of two rows, and such classes change the estimate
-- buckets: no -- the other columns distinguish the rows of a bucket
-- reads: equivalence_class

-- Without a class of two rows, the number of unique rows that are unique in the population cannot be estimated.

-- statement: figures
WITH histogram AS (
  SELECT
    CAST(coalesce(sum(CASE WHEN size = 1 THEN 1 ELSE 0 END), 0) AS DOUBLE) AS uniques,
    CAST(coalesce(sum(CASE WHEN size = 2 THEN 1 ELSE 0 END), 0) AS DOUBLE) AS pairs
  FROM equivalence_class
)
SELECT
  uniques AS unique_rows,
  pairs AS classes_of_two,
  CASE WHEN pairs > 0 THEN $sampling_fraction * uniques / nullif($sampling_fraction * uniques + 2 * (1 - $sampling_fraction) * pairs, 0) END AS population_uniqueness
FROM histogram
