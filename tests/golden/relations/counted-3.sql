SELECT "region", CAST(SUM("n") AS BIGINT) AS "rows" FROM {#1} GROUP BY "region"
