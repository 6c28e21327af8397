-- For each pair of attributes the sum of f_ij^2 / (f_i f_j), and for each attribute the number of its values: first,
-- second, total. A single attribute is both first and second.
--
-- marginal, pair: first, second, first_code, second_code, n, the rows of each code of an attribute, and of each pair of
-- codes of two. (n_ij / n)^2 / (n_i / n * n_j / n) needs no n. Two attributes with the same two values of one row each
-- have the totals 2, 2 and 2.
WITH marginal AS MATERIALIZED (SELECT * FROM marginals)
SELECT pair.first, pair.second, CAST(count(*) AS DOUBLE) AS total
FROM marginal AS pair
GROUP BY pair.first, pair.second
UNION ALL
SELECT pair.first, pair.second, CAST(sum(pair.n / row.n * pair.n / other.n) AS DOUBLE) AS total
FROM pairs AS pair
JOIN marginal AS row ON pair.first = row.first AND pair.first_code = row.first_code
JOIN marginal AS other ON pair.second = other.second AND pair.second_code = other.second_code
GROUP BY pair.first, pair.second
