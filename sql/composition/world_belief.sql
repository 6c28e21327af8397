-- How sure somebody is of respondents whose worlds were counted; NULL where there is none.
-- parameter: $1 the respondents, $2 the confidence in the likeliest value of each
SELECT unnest(CAST($1 AS BIGINT[])) AS respondent, unnest(CAST($2 AS DOUBLE[])) AS confidence
