-- Look for: the code of each item among all nodes, which are numbered in the order of their labels.

CREATE TEMPORARY TABLE "__sqlanon_node_1" AS
SELECT UNNEST(CAST($1 AS BIGINT[])) AS "leaf", UNNEST(CAST($2 AS BIGINT[])) AS "code";
