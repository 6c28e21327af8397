-- The combinations of groups that may satisfy a query: query, n, the $counts of each group as {names}, known, p,
-- certain.
--
-- linked: n rows of each combination of groups; each of the {tables}, under its name in {of}, has query, bucket,
-- satisfying and total: of the total rows of a group, satisfying rows satisfy the query. $known and $p are products
-- with these shares: known of the n rows satisfy the condition that can be decided exactly, and each of these satisfies
-- the others with the probability p. If 2 of 4 rows of a group satisfy an only condition, 6 rows have known = 3 and p =
-- 1.
SELECT "{first}".query, linked.n, $counts AS "{names}", $known AS known, $p AS p, $all_full AS certain
FROM linked
JOIN "{tables}" AS "{of}" ON $same
