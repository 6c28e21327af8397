-- title: The share of rows whose sensitive value is the most frequent value of their class, minus the share whose value is the most frequent value of the whole release.
-- paper: Brickell and Shmatikov, The cost of privacy (2008), section 4: A_acc
-- falls: yes -- the greatest count of a union is at most the sum of the greatest counts of its parts
-- reads: class_sensitive_value, sensitive_value

-- statement: figures
WITH guessed AS (
  SELECT class_id, max(n) AS n FROM class_sensitive_value GROUP BY class_id
), baseline AS (
  SELECT CAST(max(n) AS DOUBLE) AS n, CAST(sum(n) AS DOUBLE) AS total FROM sensitive_value
), right_rows AS (
  SELECT CAST(sum(n) AS DOUBLE) AS n FROM guessed
)
SELECT (r.n - b.n) / nullif(b.total, 0) AS a_acc
FROM right_rows AS r
CROSS JOIN baseline AS b
