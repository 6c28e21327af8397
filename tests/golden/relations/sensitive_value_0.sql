SELECT "value", CAST(SUM("n") AS BIGINT) AS "n" FROM {#1} GROUP BY "value"
