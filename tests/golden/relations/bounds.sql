SELECT DISTINCT "query", TRY_CAST("low" AS DATE) AS "low" FROM ({compared({#1}, 0)}) AS "compared" WHERE "high" IS NULL
