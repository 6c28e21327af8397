-- Look for: of each label of the cut, how far up on the way of each label of the rare set the first node is that it lies below.

CREATE TEMPORARY TABLE "__sqlanon_height_1" AS
SELECT
  UNNEST(CAST($1 AS BIGINT[])) AS "code", UNNEST(CAST($2 AS BIGINT[])) AS "height_0",
  UNNEST(CAST($3 AS BIGINT[])) AS "height_1";
