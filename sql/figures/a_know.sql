-- title: The distance of the sensitive values of a row's class from those of the whole release: half the sum of the absolute differences of shares, as a mean over the rows.
-- paper: Brickell and Shmatikov, The cost of privacy (2008), section 4: A_know
-- falls: yes -- the difference is convex in the shares of a class, so the difference of a union is at most the mean of those of its parts
-- reads: class_sensitive_value, sensitive_value

-- A value that a class lacks contributes its share in the release, so only the total share of the class's values in the release is needed.

-- statement: figures
WITH baseline AS (
  SELECT value, CAST(n AS DOUBLE) / sum(CAST(n AS DOUBLE)) OVER () AS q, sum(CAST(n AS DOUBLE)) OVER () AS total
  FROM sensitive_value
), class_size AS (
  SELECT class_id, CAST(sum(n) AS DOUBLE) AS size
  FROM class_sensitive_value
  GROUP BY class_id
), distance AS (
  SELECT s.class_id, max(c.size) AS size, max(b.total) AS total, sum(abs(s.n / c.size - b.q)) + (1 - sum(b.q)) AS doubled
  FROM class_sensitive_value AS s
  JOIN class_size AS c ON c.class_id = s.class_id
  JOIN baseline AS b ON b.value = s.value
  GROUP BY s.class_id
)
SELECT sum(size * doubled / 2) / nullif(max(total), 0) AS a_know FROM distance
