-- What a label of a range may mean: its least and its greatest value as texts, and whether
-- NULL is among the values. Where a value holds a comma there is more than one way to read it.
WITH label_range AS (
  SELECT label, shown AS text, FALSE AS with_null FROM shown
  UNION ALL
  SELECT label, left(shown, length(shown) - 8) AS text, TRUE AS with_null FROM shown WHERE shown LIKE '% or NULL'
), divided AS (
  SELECT label, text, with_null, unnest(generate_series(2, length(text) - 2)) AS place
  FROM label_range
  WHERE text LIKE '[%, %]'
)
SELECT label, text AS low, text AS high, with_null FROM label_range
UNION
SELECT label, substring(text, 2, place - 2) AS low, substring(text, place + 2, length(text) - place - 2) AS high, with_null
FROM divided
WHERE substring(text, place, 2) = ', '
