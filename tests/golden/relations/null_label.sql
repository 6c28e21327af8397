SELECT "label", CAST(1.0 AS DOUBLE) AS "weight" FROM "shown" WHERE "shown" IS NULL
