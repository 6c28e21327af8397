SELECT DISTINCT "query", TRY_CAST("low" AS TEXT) AS "low"
FROM ({compared({#1}, {#2})}) AS "compared"
WHERE "high" IS NULL
