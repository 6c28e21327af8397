-- Each person's combinations of labels, with the number of rows that have them: person, code, n.
--
-- rows: {person} and the {labels}; {combination}: {names}, code, as numbered_combinations.sql returns them. $n counts
-- the rows. A person with three rows, two of which agree in the labels, has the counts 2 and 1.
SELECT {row.person} AS person, "{combination}".code, $n AS n
FROM rows AS row
JOIN "{combination}" ON {row.labels} IS NOT DISTINCT FROM "{combination}"."{names}"
GROUP BY {row.person}, "{combination}".code
