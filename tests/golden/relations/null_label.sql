SELECT "label", CAST(1 AS DOUBLE) AS "weight" FROM "shown" WHERE "shown" IS NULL
