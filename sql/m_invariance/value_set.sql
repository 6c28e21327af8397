-- A number for each signature that classes have; among those without one yet, for each set of values.
SELECT signature, place, dense_rank() OVER (ORDER BY signature ASC NULLS LAST, codes ASC NULLS LAST) AS region
FROM (SELECT signature, place, list(code ORDER BY code ASC NULLS LAST) AS codes FROM placed GROUP BY signature, place) AS class
