-- Look for: how many rows each value has, with a draw for each value: it and the rows' draws decide who comes into
-- which bucket, and nothing else does.

CREATE TEMPORARY TABLE "__sqlanon_value_counts_1" AS
SELECT CAST(0 AS BIGINT) AS "region", "code", "n", udf(0) AS "draw"
FROM "__sqlanon_codes_1" AS "codes";
