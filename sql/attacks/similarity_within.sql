-- attack: similarity
-- title: An adversary who knows the class of a target names a narrow range in which its number lies.
-- paper: Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity (2007), section 2.2: the similarity attack
-- parameter: within DECIMAL 0 1000000000000 -- how far apart the least and the greatest number of the range may be
-- parameter: confidence DECIMAL 0.000001 1 DEFAULT 1 -- from which share of a class on its rows count as named
-- falls: yes -- the share of a range in a union is at most the greatest of its shares in the classes
-- reads: class_sensitive_value, sensitive_number

-- Ranges begin with each number of a class. NULL is alike to NULL only. The allowance is for numbers with decimals, which
-- a DOUBLE has to about 16 digits: 2.6 lies within 1.2 of 1.4. Whole numbers and decimals are compared exactly.

-- statement: classes
WITH numbered AS (
  SELECT s.class_id, s.n, v.whole, v.unit, v.number
  FROM class_sensitive_value AS s
  JOIN sensitive_number AS v ON v.value = s.value
), ranged AS (
  SELECT class_id, n, sum(n) OVER (
      PARTITION BY class_id ORDER BY number ASC NULLS LAST
      RANGE BETWEEN CURRENT ROW AND $within + 4e-16 * (least(abs(number), 1e300) + $within) FOLLOWING
    ) AS in_range
  FROM numbered
  WHERE whole IS NULL
  UNION ALL
  SELECT class_id, n, sum(n) OVER (
      PARTITION BY class_id ORDER BY whole * $within_denominator ASC NULLS LAST
      RANGE BETWEEN CURRENT ROW AND unit * $within_numerator FOLLOWING
    ) AS in_range
  FROM numbered
  WHERE whole IS NOT NULL
)
SELECT class_id, targets, confidence, CASE WHEN confidence >= $confidence THEN targets ELSE 0 END AS succeeded
FROM (
  SELECT class_id, sum(n) AS targets, CAST(max(in_range) AS DOUBLE) / nullif(CAST(sum(n) AS DOUBLE), 0) AS confidence
  FROM ranged
  GROUP BY class_id
) AS class
