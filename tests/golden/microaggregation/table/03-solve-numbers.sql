-- Look for: the group of each row comes back as whole numbers, and no value with them.

CREATE TEMPORARY TABLE "__sqlanon_numbers_1" AS
SELECT UNNEST(CAST($1 AS BIGINT[])) AS "number", UNNEST(CAST($2 AS BIGINT[])) AS "region";
