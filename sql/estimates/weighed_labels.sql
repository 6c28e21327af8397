-- The labels whose leaves all have a weight, without the starred labels, and the sum of these weights: label, total.
-- leaves: label, weight.
SELECT label, sum(weight) AS total
FROM leaves
WHERE NOT coalesce(label IN (SELECT label FROM starred), false)
GROUP BY label
HAVING count(*) = count(weight) AND sum(weight) > 0
