-- How many signatures have a value of which a class has several rows, and how many have fewer than m values.
SELECT coalesce(sum(CASE WHEN most > 1 THEN 1 ELSE 0 END), 0) AS repeated, coalesce(sum(CASE WHEN size < $m THEN 1 ELSE 0 END), 0) AS small
FROM (SELECT signature, max(n) AS most, count(*) AS size FROM signature_value GROUP BY signature) AS each
