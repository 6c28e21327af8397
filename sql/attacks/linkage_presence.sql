-- attack: linkage
-- title: An adversary who has a table of people learns that one of them is in the release.
-- paper: Nergiz, Atzori and Clifton, Hiding the presence of individuals from shared databases (2007)
-- parameter: against RELATION -- a table of known people, with a column for each quasi-identifier
-- parameter: confidence DECIMAL 0.000001 1 DEFAULT 1 -- the least confidence at which the people of a class count as named
-- falls: yes -- the share of a union lies between the shares of its classes
-- reads: equivalence_class, public_class
-- bound: delta_presence $max -- the model itself, for the public table of the policy

-- statement: classes
SELECT class_id, targets, confidence, CASE WHEN confidence >= $confidence THEN targets ELSE 0 END AS succeeded
FROM (
  SELECT c.class_id, p.n AS targets,
    CAST(least(c.size, p.n) AS DOUBLE) / nullif(CAST(p.n AS DOUBLE), 0) AS confidence
  FROM equivalence_class AS c
  JOIN public_class AS p ON p.class_id = c.class_id
) AS class
