-- Look for: the counts with noise, one for each combination, come from OpenDP as parameters.

CREATE TEMPORARY TABLE "__sqlanon_noisy_1" AS
SELECT UNNEST(CAST($1 AS BIGINT[])) AS "bin", UNNEST(CAST($2 AS BIGINT[])) AS "n";
