SELECT "value"
FROM (SELECT DISTINCT {#1} AS "value" FROM "memory"."main"."patients" AS "source") AS "different"
WHERE "value" = TRY_CAST(CAST("value" AS TEXT) AS TEXT)
