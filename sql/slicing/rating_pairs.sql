-- For each two items the number of respondents who rated them equally, and who rated both: first, second, equal, both.
--
-- coded: respondent, item, rating, a row for each rating. Pairs that nobody rated are left out.
SELECT first.item AS first, second.item AS second, count(*) FILTER (WHERE first.rating = second.rating) AS equal,
  count(*) AS both
FROM coded AS first
JOIN coded AS second ON first.respondent = second.respondent AND first.item < second.item
GROUP BY first.item, second.item
