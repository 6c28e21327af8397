-- The values that a hierarchy lists, in the type of $value, with the label of each level as {names}, and listed, TRUE.
--
-- {rows}: hierarchy, value, level, label, texts. Texts that are equal in that type count once, and a text that is not a
-- value of the type is left out. The texts '1' and '01' with the labels 'low' are one row, 1 with 'low'.
SELECT $value AS value, max(label) FILTER (WHERE level = $levels) AS "{names}", TRUE AS listed
FROM "{rows}"
WHERE hierarchy = $hierarchy AND (value IS NULL OR NOT $value IS NULL)
GROUP BY $value
