-- Look for: the labels of the cut by their codes.

CREATE TEMPORARY TABLE "__sqlanon_label_1" AS
SELECT UNNEST(CAST($1 AS BIGINT[])) AS "code", UNNEST(CAST($2 AS TEXT[])) AS "label";
