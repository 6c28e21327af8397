-- The number of rows, and of rows with the most frequent value, in the withheld classes and in all other classes: gone
-- (whether withheld), rows, most.
--
-- class_sensitive_value: class_id, value, n, the rows of each class with each value of an attribute; withheld:
-- class_id.
SELECT gone, CAST(sum(n) AS BIGINT) AS rows, max(n) AS most
FROM (
  SELECT class.value, withheld.class_id IS NOT NULL AS gone, CAST(sum(class.n) AS BIGINT) AS n
  FROM class_sensitive_value AS class
  LEFT JOIN withheld ON class.class_id = withheld.class_id
  GROUP BY class.value, withheld.class_id IS NOT NULL
) AS counted
GROUP BY gone
