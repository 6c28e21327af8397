-- The rows of the withheld classes (gone) and of the others, and the rows of the most frequent value: gone, rows, most.
--
-- class_sensitive_value: class_id, value, n, the rows of each class with each value of an attribute; withheld: class_id.
SELECT gone, CAST(sum(n) AS BIGINT) AS rows, max(n) AS most
FROM (
  SELECT class.value, withheld.class_id IS NOT NULL AS gone, CAST(sum(class.n) AS BIGINT) AS n
  FROM class_sensitive_value AS class
  LEFT JOIN withheld ON class.class_id = withheld.class_id
  GROUP BY class.value, withheld.class_id IS NOT NULL
) AS counted
GROUP BY gone
