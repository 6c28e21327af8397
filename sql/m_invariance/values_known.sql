-- The values of the source and of the series, with their rows in the source: value, n.
--
-- source: the rows, with the value $value; known_values: value, the values of former releases. If the source has the
-- values a, a and b, and the series c: a 2, b 1, c 0.
SELECT value, CAST(sum(n) AS BIGINT) AS n
FROM (
  SELECT $value AS value, count(*) AS n FROM source GROUP BY $value
  UNION ALL
  SELECT value, 0 AS n FROM known_values
) AS either
GROUP BY value
