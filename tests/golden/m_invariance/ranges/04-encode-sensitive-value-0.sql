-- Look for: how often each sensitive value occurs, for requirements that compare with the whole.

CREATE TEMPORARY TABLE "__sqlanon_sensitive_value_0_1" AS
SELECT (("key_0" & 64) >> 6) AS "value", CAST(SUM("n") AS BIGINT) AS "n"
FROM "__sqlanon_cells_1"
GROUP BY (("key_0" & 64) >> 6);
