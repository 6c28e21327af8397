-- attack: linkage
-- title: An adversary who has a table of people, and knows that they are the population, names the person behind a released row.
-- paper: El Emam and Dankar, Protecting privacy using k-anonymity (2008): the journalist scenario
-- parameter: against RELATION -- a table of known people, with a column for each quasi-identifier
-- parameter: confidence DECIMAL 0.000001 1 DEFAULT 1 -- the least confidence at which the rows of a class count as named
-- falls: yes -- a union has the people of all its classes
-- reads: equivalence_class, public_class
-- bound: k_map 1 / $k -- the model itself, for the public table of the policy

-- Rows of classes that match none of the people are not targets.

-- statement: classes
SELECT class_id, targets, confidence, CASE WHEN confidence >= $confidence THEN targets ELSE 0 END AS succeeded
FROM (
  SELECT c.class_id, c.size AS targets, CAST(1 AS DOUBLE) / nullif(CAST(p.n AS DOUBLE), 0) AS confidence
  FROM equivalence_class AS c
  JOIN public_class AS p ON p.class_id = c.class_id
) AS class
