-- attack: similarity
-- title: An adversary who knows the class of a target names a narrow range that contains the target's number.
-- paper: Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity (2007), section 2.2: the similarity attack
-- parameter: within DECIMAL 0 1000000000000 -- the greatest difference between the least and the greatest number of the range
-- parameter: confidence DECIMAL 0.000001 1 DEFAULT 1 -- the least share of a class at which its rows count as named
-- falls: yes -- the share of a range in a union is at most the greatest of its shares in the classes
-- reads: class_sensitive_value, sensitive_number

-- A range begins with each number of a class. NULL is similar only to NULL. DOUBLEs have about 16 digits, so a small tolerance is added
-- to their ranges: 2.6 lies within 1.2 of 1.4. Whole numbers and DECIMALs are compared exactly.

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
