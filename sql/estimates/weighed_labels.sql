-- The labels whose leaves all have a weight, and its sum, without the starred ones: label, total. leaves: label, weight.
SELECT label, sum(weight) AS total
FROM leaves
WHERE NOT coalesce(label IN (SELECT label FROM starred), false)
GROUP BY label
HAVING count(*) = count(weight) AND sum(weight) > 0
