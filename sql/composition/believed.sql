-- Of how many values each respondent has one, and how sure somebody is of the likeliest: in a way that counts who can have which
-- row, each candidate is as likely as the others; else it is as likely as its rows. What logarithms round away is left out.
SELECT respondent, count(*) AS number,
  round(CASE WHEN $variant = 'counting' THEN CAST(1 AS DOUBLE) / count(*) ELSE 1 / sum(exp(weight - most)) END, 12) AS confidence
FROM (
  SELECT respondent, weight, max(weight) OVER (PARTITION BY respondent) AS most FROM candidate
) AS weighed
GROUP BY respondent
