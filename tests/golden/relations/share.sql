SELECT "bounds"."query", "leaf"."number", "leaf"."weight"
FROM (SELECT "number", "label" AS "value", CAST(1.0 AS DOUBLE) AS "weight" FROM {#1} AS "labels") AS "leaf"
JOIN ({bounds-2("__sqlanon_among_1", {#2})}) AS "bounds" ON CAST("leaf"."value" AS TEXT) = "bounds"."low"
