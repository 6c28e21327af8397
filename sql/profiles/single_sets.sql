-- The sets of one combination of each person: person, known, last, items.
--
-- combination_of: person, number. Number 7 makes the set [7], whose last member is 7.
SELECT person, CAST([number] AS BIGINT[]) AS known, number AS last, 1 AS items
FROM combination_of
