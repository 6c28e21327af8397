-- Look for: the codes of the items that are suppressed, given as a parameter.

CREATE TEMPORARY TABLE "__sqlanon_suppressed_1" AS SELECT UNNEST(CAST($1 AS BIGINT[])) AS "code";
