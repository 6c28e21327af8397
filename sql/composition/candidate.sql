-- The values that each respondent may have: those of the classes that the respondent is in, in every release. The weight
-- is the logarithm of the product of how many rows of each class have the value: the product itself has no bounds.
SELECT m.respondent, v.code, sum(ln(CAST(v.n AS DOUBLE))) AS weight
FROM member AS m
JOIN class_value AS v ON v.release = m.release AND v.class = m.class
JOIN (
  SELECT respondent, count(*) AS number FROM member GROUP BY respondent
) AS r ON r.respondent = m.respondent
GROUP BY m.respondent, v.code
HAVING count(*) = max(r.number)
