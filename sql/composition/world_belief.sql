-- The confidence in the value of respondents whose worlds were counted, NULL if there is no world: respondent,
-- confidence. parameter: $1 the respondents, $2 the confidence in the likeliest value of each
SELECT unnest(CAST($1 AS BIGINT[])) AS respondent, unnest(CAST($2 AS DOUBLE[])) AS confidence
