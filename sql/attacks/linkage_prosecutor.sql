-- attack: linkage
-- title: An adversary who knows that a person is in the release names the person's row.
-- paper: El Emam and Dankar, Protecting privacy using k-anonymity (2008): the prosecutor scenario
-- parameter: against RELATION -- a table of known people, which this part of the attack does not need
-- parameter: confidence DECIMAL 0.000001 1 DEFAULT 1 -- the least confidence at which the rows of a class count as named
-- falls: yes -- a union has the rows of all its classes
-- reads: equivalence_class
-- bound: k_anonymity 1 / $k -- each respondent has at least one row

-- statement: classes
SELECT class_id, targets, confidence, CASE WHEN confidence >= $confidence THEN targets ELSE 0 END AS succeeded
FROM (
  SELECT class_id, size AS targets, CAST(1 AS DOUBLE) / nullif(CAST(size AS DOUBLE), 0) AS confidence
  FROM equivalence_class
) AS class
