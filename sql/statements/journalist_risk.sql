-- The journalist knows the public table, and not who is in this one: one of the public rows of a class is guessed (El
-- Emam and Dankar 2008). A class that the public table does not have matches nobody.
SELECT
  max(1.0 / CAST(p.n AS DOUBLE)) AS journalist_risk,
  sum(CAST(c.size AS DOUBLE) / CAST(p.n AS DOUBLE)) / nullif(sum(CAST(c.size AS DOUBLE)), 0.0) AS journalist_risk_mean
FROM equivalence_class AS c
JOIN public_class AS p ON p.class_id = c.class_id
WHERE p.n > 0
