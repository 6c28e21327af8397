-- attack: linkage
-- title: An adversary who has a table of people, and does not know which of them are in the release, names the sensitive value of one of them.
-- paper: Samarati, Protecting respondents' identities in microdata release (2001), figure 1; De Capitani di Vimercati et al., Data privacy: definitions and techniques (2012)
-- parameter: against RELATION -- a table of known people, with a column for each quasi-identifier
-- parameter: confidence DECIMAL 0.000001 1 DEFAULT 1 -- the least confidence at which the people of a class count as named
-- falls: no -- if few rows for many people and many rows for few people are merged, each person may be certain to have a row
-- reads: class_sensitive_value, public_class
-- bound: probabilistic_l_diversity 1 / $l -- no value is likelier than it is for a member of the class
-- bound: alpha_k_anonymity $alpha -- no value is likelier than it is for a member of the class
-- bound: recursive_l_diversity CASE WHEN $l > 1 THEN $c / ($c + 1) END -- no value is likelier than it is for a member of the class

-- A class of n released rows and D people: each of these is in it with min(1, n/D), and has the most frequent value with
-- its share of the class.

-- statement: classes
SELECT class_id, targets, confidence, CASE WHEN confidence >= $confidence THEN targets ELSE 0 END AS succeeded
FROM (
  SELECT c.class_id, p.n AS targets,
    CAST(c.most AS DOUBLE) / nullif(CAST(greatest(c.size, p.n) AS DOUBLE), 0) AS confidence
  FROM (
    SELECT class_id, sum(n) AS size, max(n) AS most FROM class_sensitive_value GROUP BY class_id
  ) AS c
  JOIN public_class AS p ON p.class_id = c.class_id
) AS class
