-- title: How easily a reader finds a respondent again who knows the public table, and not who is in this one: one of the public rows of a class is guessed, the worst and the mean over rows. A class that the public table lacks matches nobody.
-- paper: El Emam and Dankar, Protecting privacy using k-anonymity (2008)
-- respondents: yes -- each row is taken for another respondent
-- falls: yes -- a class grows by merging
-- buckets: no -- the rows of a bucket are told apart by the columns beside it
-- reads: equivalence_class, public_class

-- statement: figures
SELECT
  max(1.0 / CAST(p.n AS DOUBLE)) AS journalist_risk,
  sum(CAST(c.size AS DOUBLE) / CAST(p.n AS DOUBLE)) / nullif(sum(CAST(c.size AS DOUBLE)), 0.0) AS journalist_risk_mean
FROM equivalence_class AS c
JOIN public_class AS p ON p.class_id = c.class_id
WHERE p.n > 0
