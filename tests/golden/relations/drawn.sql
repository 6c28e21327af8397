SELECT *, udf(0) AS "draw"
FROM (SELECT "region", CAST(SUM("n") AS BIGINT) AS "rows" FROM {#1} AS "points" GROUP BY "region") AS "counted"
