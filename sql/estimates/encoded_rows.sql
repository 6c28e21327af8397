-- Rows as the codes of their values: the {others} and the {codes}, each a sum $sums of codes.
--
-- labelled: the {others} and the {values}; each of the {tables} has value and code, with a row for NULL. $sums read a
-- table under its name in {of}. A join that finds NULL for NULL would be a third slower. If 'a' has code 1 and 5 has
-- code 8, the row ('a', 5) has the code 9.
SELECT {labelled.others}, CAST(($sums) AS BIGINT) AS "{codes}"
FROM labelled
LEFT JOIN "{tables}" AS "{of}" ON {labelled.values} = "{of}".value
