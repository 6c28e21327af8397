-- The rows of each pair of codes of two attributes, or of each code of one: first, second, first_code, second_code, n.
--
-- grouped: {codes}, n, by sets of one or two attributes; a code is NULL only if the attribute is not grouped by. first
-- is the first attribute with a code, and second the last one; {reversed} and $descending are {codes} and $indexes from
-- the last to the first. A row with the codes NULL, 7, 9 returns 1, 2, 7, 9 and its n.
SELECT CASE WHEN {codes} IS NOT NULL THEN $indexes END AS first,
  CASE WHEN {reversed} IS NOT NULL THEN $descending END AS second,
  coalesce({codes}) AS first_code, coalesce({reversed}) AS second_code, n
FROM grouped
