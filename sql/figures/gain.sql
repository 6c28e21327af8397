-- title: The information, in nats, that a row's class gives about its sensitive value: the entropy in the whole release minus the mean entropy in the classes.
-- paper: Brickell and Shmatikov, The cost of privacy (2008), section 4: Gain(S, Q), after information gain
-- falls: yes -- entropy is concave in the shares of a class
-- reads: class_sensitive_value, sensitive_value

-- If the mean of the entropies differs from the entropy only by rounding, the gain is 0.

-- statement: figures
WITH baseline AS (
  SELECT CAST(n AS DOUBLE) AS n, sum(CAST(n AS DOUBLE)) OVER () AS total FROM sensitive_value
), class_value AS (
  SELECT CAST(n AS DOUBLE) AS n, sum(CAST(n AS DOUBLE)) OVER (PARTITION BY class_id) AS size
  FROM class_sensitive_value
), prior AS (
  SELECT sum(-n * ln(n / total)) AS entropy, max(total) AS total
  FROM baseline
  WHERE n > 0
), posterior AS (
  SELECT sum(-n * ln(n / size)) AS entropy
  FROM class_value
  WHERE n > 0
)
SELECT CASE WHEN a.entropy > b.entropy THEN (a.entropy - b.entropy) / a.total WHEN a.total > 0 THEN 0 END AS gain
FROM prior AS a
CROSS JOIN posterior AS b
