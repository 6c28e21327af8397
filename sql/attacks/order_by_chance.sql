-- attack: order
-- title: The result of the attack by order if the rows of a class are in random order.
-- paper: the expected number of agreements of two random orders of the same values
-- falls: yes -- the sum of squared shares of a union is at most the mean of those of its classes
-- reads: class_sensitive_value

-- statement: classes
SELECT class_id, sum(n) AS targets,
  sum(CAST(n AS DOUBLE) * CAST(n AS DOUBLE)) / nullif(CAST(sum(n) AS DOUBLE) * CAST(sum(n) AS DOUBLE), 0) AS confidence,
  sum(CAST(n AS DOUBLE) * CAST(n AS DOUBLE)) / nullif(CAST(sum(n) AS DOUBLE), 0) AS succeeded
FROM class_sensitive_value
GROUP BY class_id
