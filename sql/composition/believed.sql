-- How many values are left of each respondent, and how sure somebody is of the likeliest: by counting each candidate is as likely as the
-- others, by intersection it is as likely as its rows. Candidates that show one value are one value. What logarithms round away is left out.
SELECT respondent, count(*) AS number, round(max(part) / sum(part), 12) AS confidence
FROM (
  SELECT respondent, shown, sum(CASE WHEN $variant = 'counting' THEN CAST(1 AS DOUBLE) ELSE exp(weight - most) END) AS part
  FROM (
    SELECT respondent, shown, weight, max(weight) OVER (PARTITION BY respondent) AS most FROM candidate
  ) AS weighed
  GROUP BY respondent, shown
) AS of_value
GROUP BY respondent
