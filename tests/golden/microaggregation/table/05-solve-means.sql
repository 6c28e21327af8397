-- Look for: the means of the groups, as they will be published.

CREATE TEMPORARY TABLE "__sqlanon_means_1" AS
SELECT
  UNNEST(CAST($1 AS BIGINT[])) AS "region", UNNEST(CAST($2 AS DOUBLE[])) AS "value_0",
  UNNEST(CAST($3 AS DOUBLE[])) AS "value_1";
