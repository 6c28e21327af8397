-- Look for: the labels of one step, and the nodes that take their places.

CREATE TEMPORARY TABLE "__sqlanon_raised_1" AS
SELECT UNNEST(CAST($1 AS BIGINT[])) AS "code", UNNEST(CAST($2 AS BIGINT[])) AS "above";
