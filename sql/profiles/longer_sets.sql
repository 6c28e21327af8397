-- person, known, last, items: each set that a person has, with one combination more, in the order of the numbers.
-- tables: sets(person, known, last, items), combination_of(person, number)
SELECT known.person, list_append(known.known, next.number) AS known, next.number AS last, known.items + 1 AS items
FROM sets AS known
JOIN combination_of AS next ON next.person = known.person AND next.number > known.last
