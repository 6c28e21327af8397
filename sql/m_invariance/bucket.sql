-- The number of the bucket that each class is published as, in an order that was drawn.
SELECT signature, place, row_number() OVER (ORDER BY draw ASC NULLS LAST, signature ASC NULLS LAST, place ASC NULLS LAST) AS bucket
FROM class
