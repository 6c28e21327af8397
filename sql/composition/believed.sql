-- The number of values left for each respondent, and the confidence in the likeliest value: respondent, number,
-- confidence.
--
-- With $variant 'counting' each candidate is equally likely, otherwise a candidate is as likely as its rows. Candidates
-- that show one value are one value. The confidence is rounded to 12 digits, because of the logarithms.
SELECT respondent, count(*) AS number, round(max(part) / sum(part), 12) AS confidence
FROM (
  SELECT respondent, shown, sum(CASE WHEN $variant = 'counting' THEN CAST(1 AS DOUBLE) ELSE exp(weight - most) END) AS part
  FROM (
    SELECT respondent, shown, weight, max(weight) OVER (PARTITION BY respondent) AS most FROM candidate
  ) AS weighed
  GROUP BY respondent, shown
) AS of_value
GROUP BY respondent
