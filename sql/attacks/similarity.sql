-- attack: similarity
-- title: An adversary who knows the class of a target names a group of similar values, all below one node of their hierarchy.
-- paper: Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity (2007), section 2.2: the similarity attack
-- parameter: level BIGINT 0 1000 -- the level of the hierarchy whose nodes count as groups of similar values
-- parameter: confidence DECIMAL 0.000001 1 DEFAULT 1 -- the least share of a class at which its rows count as named
-- falls: yes -- the share of a node in a union is at most the greatest of its shares in the classes
-- reads: class_sensitive_value, sensitive_ancestor

-- statement: classes
WITH node_count AS (
  SELECT s.class_id, a.node, sum(s.n) AS n
  FROM class_sensitive_value AS s
  JOIN sensitive_ancestor AS a ON a.value = s.value
  WHERE a.level = $level
  GROUP BY s.class_id, a.node
)
SELECT class_id, targets, confidence, CASE WHEN confidence >= $confidence THEN targets ELSE 0 END AS succeeded
FROM (
  SELECT class_id, sum(n) AS targets, CAST(max(n) AS DOUBLE) / nullif(CAST(sum(n) AS DOUBLE), 0) AS confidence
  FROM node_count
  GROUP BY class_id
) AS class
