-- title: The probability that a reader who knows the public table, but not the respondents of this table, identifies a respondent by guessing one of the public rows of the class: the greatest, and the mean over the rows. A class that the public table lacks matches nobody.
-- paper: El Emam and Dankar, Protecting privacy using k-anonymity (2008)
-- respondents: yes -- each row counts as a different respondent
-- falls: yes -- classes grow when they are merged
-- buckets: no -- the other columns distinguish the rows of a bucket
-- reads: equivalence_class, public_class

-- statement: figures
SELECT
  max(1.0 / CAST(p.n AS DOUBLE)) AS journalist_risk,
  sum(CAST(c.size AS DOUBLE) / CAST(p.n AS DOUBLE)) / nullif(sum(CAST(c.size AS DOUBLE)), 0.0) AS journalist_risk_mean
FROM equivalence_class AS c
JOIN public_class AS p ON p.class_id = c.class_id
WHERE p.n > 0
