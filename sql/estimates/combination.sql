-- A row for each class and combination of its labels' signatures: id, key, n, number, unit, share, holds, {moments},
-- {parts}.
--
-- classes: id, n, and the $labels; each of the {tables}, under its name in {of}, has a row for each signature of a
-- label: label, share, signatures. $share is the product of the shares, and $holds the condition of the query. A label
-- with two signatures, each of share 0.5, makes two rows of its class.
SELECT class.id, $key AS key, class.n, $number AS number, CAST($unit AS HUGEINT) AS unit, $share AS share,
  coalesce($holds, FALSE) AS holds, $values AS "{moments}", $further AS "{parts}"
FROM classes AS class
JOIN "{tables}" AS "{of}" ON $labels IS NOT DISTINCT FROM "{of}".label
