-- How easily the respondents of a table are found again by its quasi-identifiers (El Emam and Dankar, Protecting privacy
-- using k-anonymity, 2008). The prosecutor knows that somebody is in the table, the marketer wants as many as
-- possible: one of the rows of a class is guessed. A row of a class of its own is unique.
SELECT
  CAST(count(*) AS DOUBLE) AS classes,
  CAST(coalesce(sum(size), 0) AS DOUBLE) AS row_count,
  CAST(coalesce(sum(CASE WHEN size = 1 THEN 1 ELSE 0 END), 0) AS DOUBLE) AS unique_rows,
  1.0 / nullif(CAST(min(size) AS DOUBLE), 0.0) AS prosecutor_risk,
  CAST(count(*) AS DOUBLE) / nullif(CAST(sum(size) AS DOUBLE), 0.0) AS marketer_risk
FROM equivalence_class
