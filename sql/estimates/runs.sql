-- The runs of consecutive numbers that satisfy each query: the numbers 1, 2, 3, 7 are the runs 1 to 3 and 7 to 7.
--
-- satisfied: query, number. Within a run the difference of the number and its rank is constant.
WITH ranked AS (
  SELECT query, number, number - row_number() OVER (PARTITION BY query ORDER BY number ASC NULLS LAST) AS run
  FROM satisfied
)
SELECT query, min(number) AS low, max(number) AS high
FROM ranked
GROUP BY query, run
