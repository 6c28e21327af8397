-- A region number for each class: signature, place, region. Classes with the same signature and the same set of values
-- have the same number.
SELECT signature, place, dense_rank() OVER (ORDER BY signature ASC NULLS LAST, codes ASC NULLS LAST) AS region
FROM (SELECT signature, place, list(code ORDER BY code ASC NULLS LAST) AS codes FROM placed GROUP BY signature, place) AS class
