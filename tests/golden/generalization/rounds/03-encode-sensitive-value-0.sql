-- Look for: the distribution of the whole table from the cells alone, by the bits of the sensitive field; the source
-- is not read again.

CREATE TEMPORARY TABLE "__sqlanon_sensitive_value_0_1" AS
SELECT (("key_0" & 15360) >> 10) AS "value", CAST(SUM("n") AS BIGINT) AS "n"
FROM "__sqlanon_cells_1"
GROUP BY (("key_0" & 15360) >> 10);
