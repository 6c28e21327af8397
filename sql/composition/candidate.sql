-- The rows that each respondent may have, by their codes: the codes that all classes of the respondent have, in every
-- release: respondent, code, shown, weight. The weight is the logarithm of the product of the numbers of such rows in
-- these classes; the product itself has no upper limit.
SELECT m.respondent, v.code, v.shown, sum(ln(CAST(v.n AS DOUBLE))) AS weight
FROM member AS m
JOIN class_value AS v ON v.release = m.release AND v.class = m.class
JOIN (
  SELECT respondent, count(*) AS number FROM member GROUP BY respondent
) AS r ON r.respondent = m.respondent
GROUP BY m.respondent, v.code, v.shown
HAVING count(*) = max(r.number)
