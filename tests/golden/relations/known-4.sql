SELECT *
FROM (SELECT DISTINCT {#1} AS "value" FROM "memory"."main"."patients") AS "value"
WHERE "value" = TRY_CAST(CAST("value" AS TEXT) AS TEXT)
