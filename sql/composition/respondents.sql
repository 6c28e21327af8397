-- How sure somebody is of each respondent: in a way that counts who can have which row, each candidate being as likely as the
-- others, or by the products of rows. NULL where no value is left, so that it cannot be the same in all releases.
SELECT m.respondent, c.confidence
FROM (SELECT DISTINCT respondent FROM member) AS m
LEFT JOIN (
  SELECT respondent,
    CASE WHEN $variant = 'counting' THEN CAST(1 AS DOUBLE) / count(*) ELSE max(weight) / sum(weight) END AS confidence
  FROM candidate
  GROUP BY respondent
) AS c ON c.respondent = m.respondent
