-- attack: skewness
-- title: An adversary who knows the class of a target learns that a value is far more likely than among all respondents.
-- paper: Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity (2007), section 2.2: the skewness attack
-- parameter: difference DECIMAL 0 1 -- the least difference between a value's share in a class and its share among all rows
-- falls: yes -- the share of a value in a union is at most the greatest of its shares in the classes
-- reads: class_sensitive_value, sensitive_value
-- undefined: each value of the column is so frequent that no class could reach the difference
-- bound: equal_t_closeness $t -- the difference of one share is at most the distance, which is half the sum of all differences

-- The confidence is p - q of the value for which it is greatest, p its share of the class and q of all rows.

-- statement: classes
WITH baseline AS (
  SELECT value, CAST(n AS DOUBLE) AS n, CAST(sum(n) OVER () AS DOUBLE) AS total FROM sensitive_value
), class_size AS (
  SELECT class_id, sum(n) AS size FROM class_sensitive_value GROUP BY class_id
), class AS (
  SELECT s.class_id, max(c.size) AS targets,
    max((CAST(s.n AS DOUBLE) * b.total - CAST(c.size AS DOUBLE) * b.n) / nullif(CAST(c.size AS DOUBLE) * b.total, 0))
      AS confidence
  FROM class_sensitive_value AS s
  JOIN class_size AS c ON c.class_id = s.class_id
  JOIN baseline AS b ON b.value = s.value
  GROUP BY s.class_id
)
SELECT class_id, targets, confidence, CASE
    WHEN confidence >= $difference THEN targets
    WHEN rarest.n <= (1 - $difference) * rarest.total THEN 0
  END AS succeeded
FROM class
CROSS JOIN (SELECT min(n) AS n, min(total) AS total FROM baseline) AS rarest
