-- The rows of a relation, counted by the codes of their values: the words {keys}, the columns $others, n.
--
-- rows: the $values of the columns; each of the {tables} has value and a column for each word. $words are the sums of
-- the codes of a word. Three rows, two of which have the same code and respondent, are two rows, with n = 2 and 1.
SELECT $words AS "{keys}", $others AS "{others}", count(*) AS n
FROM rows AS "{name}"
JOIN "{tables}" AS "{codes}" ON $values IS NOT DISTINCT FROM "{codes}".value
GROUP BY $words, $others
