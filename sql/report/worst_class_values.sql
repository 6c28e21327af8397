-- title: The classes whose sensitive values are farthest from those of the whole release, by the divergence of p_loss, with the values in which they differ most.
-- paper: Li and Li, On the tradeoff between privacy and utility in data publishing (2009), section 4.1: P_loss
-- parameter: classes BIGINT 1 100 DEFAULT 3 -- the number of classes
-- parameter: values BIGINT 1 1000 DEFAULT 8 -- the number of values of each class
-- falls: no -- it names classes
-- reads: class_sensitive_value, sensitive_value, sensitive_code

-- JS(q, p) = 1/2 sum p ln(2p / (p + q)) + 1/2 sum q ln(2q / (p + q)); a value that the class lacks adds q ln 2 / 2.

-- statement: figures
WITH baseline AS (
  SELECT value, CAST(n AS DOUBLE) AS n, sum(CAST(n AS DOUBLE)) OVER () AS total FROM sensitive_value
), class_value AS (
  SELECT class_id, value, CAST(n AS DOUBLE) AS n, sum(CAST(n AS DOUBLE)) OVER (PARTITION BY class_id) AS size
  FROM class_sensitive_value
), paired AS (
  SELECT s.class_id, s.size, b.n, b.total, s.n * b.total AS posterior, b.n * s.size AS prior
  FROM class_value AS s
  JOIN baseline AS b ON b.value = s.value
), divergence AS (
  SELECT class_id, max(size) AS size,
    greatest(
      sum(posterior * ln(2 * posterior / nullif(posterior + prior, 0)) + prior * ln(2 * prior / nullif(posterior + prior, 0)))
        / nullif(2 * max(size * total), 0)
      + (max(total) - sum(n)) / nullif(2 * max(total), 0) * ln(2),
      0
    ) AS divergence
  FROM paired
  GROUP BY class_id
), worst AS (
  SELECT class_id, size, divergence,
    row_number() OVER (ORDER BY divergence DESC NULLS LAST, size DESC NULLS LAST, class_id ASC NULLS LAST) AS place
  FROM divergence
  QUALIFY place <= $classes
), compared AS (
  SELECT w.place, w.class_id, w.size, w.divergence, b.value, coalesce(c.n, 0) AS n, b.n AS n_of_all, b.total,
    row_number() OVER (
      PARTITION BY w.place
      ORDER BY abs(coalesce(c.n, 0) / w.size - b.n / b.total) DESC NULLS LAST, b.n DESC NULLS LAST, b.value ASC NULLS LAST
    ) AS value_place
  FROM worst AS w
  CROSS JOIN baseline AS b
  LEFT JOIN class_value AS c ON c.class_id = w.class_id AND c.value = b.value
)
SELECT c.place, c.class_id, CAST(c.size AS BIGINT) AS size, c.divergence, CAST(s.value_0 AS VARCHAR) AS label,
  CAST(c.n AS BIGINT) AS n, CAST(c.n_of_all AS BIGINT) AS n_of_all, CAST(c.total AS BIGINT) AS total
FROM compared AS c
JOIN sensitive_code AS s ON s.code = c.value
WHERE c.value_place <= $values
ORDER BY c.place ASC NULLS LAST, c.value_place ASC NULLS LAST
