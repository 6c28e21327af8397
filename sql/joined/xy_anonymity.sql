-- title: Each value of X occurs with at least k different values of Y in the join of two releases.
-- paper: Wang and Fung, Anonymizing sequential releases (2006), definition 1
-- parameter: k BIGINT 1 9223372036854775807 -- the least number of values of Y
-- falls: no -- for a value of X it rises where more rows match; but then more values of X match some
-- reads: joined

-- statement: figures
SELECT CAST(min(number) AS DOUBLE) AS achieved, coalesce(min(number) >= $k, true) AS satisfied
FROM (SELECT x, count(*) AS number FROM joined GROUP BY x) AS counted
