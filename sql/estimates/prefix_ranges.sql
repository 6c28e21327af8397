-- The readings of ranges along a hierarchy of prefixes, of which the last level below the top shows $length characters.
--
-- ends: the rows of range_ends.sql. A range is `below` one node if its ends have equal lengths and equal prefixes; the
-- values of this length are then between them. Between ends of digits all numbers are listed elsewhere (few_digits), so
-- `meant` and `known`, whether the values of the span are equally likely, are NULL: other texts are merely possible.
WITH compared AS (
  SELECT
    *,
    length(low_text) = length(high_text) AND left(low_text, $length) = left(high_text, $length)
      AND low_text < high_text AS below,
    few_digits(low_text, high_text) AS digits
  FROM ends
), listed AS (
  SELECT *, bool_or(below AND digits) OVER (PARTITION BY label) AS listed
  FROM compared
)
SELECT
  label, low, high, below,
  CASE WHEN listed THEN CAST(NULL AS BOOLEAN) ELSE meant END AS meant,
  CASE WHEN $counted THEN true WHEN digits THEN CAST(NULL AS BOOLEAN) ELSE false END AS known
FROM listed
