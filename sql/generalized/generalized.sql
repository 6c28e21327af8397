-- The values of a column and the values that its hierarchy lists: value, {counts}, {levels}, the labels, and listed.
--
-- occurring: value, {counts}; listed: value, {levels}, listed. NULL is a value. If 'a' and 'b' occur, and 'b' and 'c'
-- are listed, there are three rows: 'a' is not listed, and 'c' has the count 0.
SELECT coalesce(occurring.value, listed.value) AS value, coalesce({occurring.counts}, 0) AS "{counts}", {listed.levels},
  NOT listed.listed IS NULL AS listed
FROM occurring
FULL JOIN listed ON occurring.value IS NOT DISTINCT FROM listed.value
