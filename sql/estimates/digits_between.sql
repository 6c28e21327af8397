-- The texts of digits between the ends of ranges below one node of prefixes: "[801, 803]" has 801, 802 and 803.
--
-- range: the rows of range.sql. The prefixes have $length characters; few_digits tells whether the ends are digits with
-- at most 9,999 numbers between them.
WITH ended AS (
  SELECT label, low, high
  FROM range
  WHERE length(low) = length(high) AND left(low, $length) = left(high, $length) AND low < high AND few_digits(low, high)
), numbers AS (
  SELECT label, low, unnest(generate_series(CAST(low AS BIGINT), CAST(high AS BIGINT))) AS number
  FROM ended
)
SELECT label, lpad(CAST(number AS VARCHAR), CAST(length(low) AS INTEGER), '0') AS value
FROM numbers
