-- The items that occur, each with a number.
SELECT secret, item, row_number() OVER (ORDER BY secret ASC NULLS LAST, item ASC NULLS LAST) AS code
FROM (SELECT DISTINCT secret, item FROM item) AS occurring
