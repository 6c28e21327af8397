-- Look for: the intervals come from the hierarchy's definition.

CREATE TEMPORARY TABLE "__sqlanon_interval_1" AS
SELECT UNNEST(CAST($1 AS DECIMAL(38, 0)[])) AS "least", UNNEST(CAST($2 AS DECIMAL(38, 0)[])) AS "beyond";
