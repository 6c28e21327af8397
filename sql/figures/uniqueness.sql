-- title: Of a sample of a known share of the population: how many rows are unique, and the probability that the only match of a unique row is the right person.
-- paper: Skinner and Elliot, A measure of disclosure risk for microdata (2002): theta, by data intrusion simulation
-- parameter: sampling_fraction DECIMAL 0 1 -- the share of the population that the source is a sample of
-- respondents: yes -- each row is taken for another respondent
-- falls: no -- a union may be a class of two rows, which tells of the population what two single ones did not
-- buckets: no -- the rows of a bucket are told apart by the columns beside it
-- reads: equivalence_class

-- Without a class of two rows there is no evidence of how many unique rows are so in the population, too.

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
