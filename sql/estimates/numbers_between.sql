-- The numbers of the first and the last label between two constants of each query: query, low, high.
--
-- label: number (from 0, in the order of the values) and value; compared: query, low, high (texts). common casts to the
-- type of the comparison. For the labels 1, 4, 9 and the constants 2 and 9 the numbers are 1 and 2.
WITH bounds AS (
  SELECT DISTINCT query, try_common(low) AS low, try_common(high) AS high
  FROM compared
  WHERE high IS NOT NULL
), labelled AS (
  SELECT number, common(value) AS value
  FROM label
  WHERE value IS NOT NULL
)
SELECT bounds.query, first.number AS low, last.number AS high
FROM bounds
ASOF JOIN labelled AS first ON bounds.low <= first.value
ASOF JOIN labelled AS last ON bounds.high >= last.value
WHERE first.number <= last.number
