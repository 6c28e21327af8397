-- title: The probability that respondents are identified: the prosecutor knows that somebody is in the table and guesses a row of the class; the marketer wants to identify as many respondents as possible; a row alone in its class is unique.
-- paper: El Emam and Dankar, Protecting privacy using k-anonymity (2008)
-- respondents: yes -- each row counts as a different respondent
-- falls: yes -- classes grow when they are merged
-- buckets: no -- the other columns distinguish the rows of a bucket
-- reads: equivalence_class

-- statement: figures
SELECT
  CAST(count(*) AS DOUBLE) AS classes,
  CAST(coalesce(sum(size), 0) AS DOUBLE) AS row_count,
  CAST(coalesce(sum(CASE WHEN size = 1 THEN 1 ELSE 0 END), 0) AS DOUBLE) AS unique_rows,
  1.0 / nullif(CAST(min(size) AS DOUBLE), 0.0) AS prosecutor_risk,
  CAST(count(*) AS DOUBLE) / nullif(CAST(sum(size) AS DOUBLE), 0.0) AS marketer_risk
FROM equivalence_class
