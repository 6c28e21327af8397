-- model: personalized
-- title: In no respondent's class does more than a share p of the rows have a sensitive value below the respondent's guarding node.
-- paper: Xiao and Tao, Personalized privacy preservation (2006)
-- parameter: p DECIMAL 0 1 -- the greatest share of a class whose values lie below a node that one of its rows guards
-- parameter: guarding COLUMN -- the column of the source with each row's guarding node, a node of the sensitive hierarchy; NULL guards nothing
-- required: at most p
-- monotone: no -- adding a class whose rows do not guard a node, but lie below it, can raise the share of one whose rows do
-- monotone under suppression: no -- for the same reason
-- excess: 0: merging classes can create violations, so no excess is certain in advance
-- excess maximum: 1
-- joint: no -- a guarding node is one of one attribute's hierarchy
-- reads: equivalence_class, class_sensitive_value, guarded, guarding_node

-- This is simpler than in the paper: sensitive values are published unchanged, never generalized, and each
-- respondent is one row, so the paper's probability of a breach is a share of the class.
-- All rows of a class with the same guarding node have the same share, so the statements judge nodes, not rows.
-- If no row has a guarding node, or no value of the class lies below one, the share is 0.
-- Shares are compared as integers, multiplied by p's denominator, exactly below 2^53.

-- statement: achieved
WITH breach AS (
  SELECT g.class_id, g.node, sum(s.n) AS n
  FROM guarded AS g
  JOIN guarding_node AS v ON v.node = g.node
  JOIN class_sensitive_value AS s ON s.class_id = g.class_id AND s.value = v.value
  GROUP BY g.class_id, g.node
)
SELECT max(coalesce(CAST(b.n AS DOUBLE) / nullif(CAST(c.size AS DOUBLE), 0), 0)) AS achieved
FROM equivalence_class AS c
LEFT JOIN breach AS b ON b.class_id = c.class_id

-- statement: violations
WITH breach AS (
  SELECT g.class_id, g.node, CAST(sum(s.n) AS DOUBLE) AS n
  FROM guarded AS g
  JOIN guarding_node AS v ON v.node = g.node
  JOIN class_sensitive_value AS s ON s.class_id = g.class_id AND s.value = v.value
  GROUP BY g.class_id, g.node
), worst AS (
  SELECT class_id, max(n) AS n FROM breach GROUP BY class_id
)
SELECT c.class_id, c.size, CAST(0 AS DOUBLE) AS excess
FROM equivalence_class AS c
JOIN worst AS w ON w.class_id = c.class_id
WHERE CAST(w.n AS DECIMAL(38, 0)) * $p_denominator > $p_numerator * CAST(c.size AS DECIMAL(38, 0))
