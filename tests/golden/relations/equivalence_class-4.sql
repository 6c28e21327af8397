SELECT "class_id", CAST(SUM("__sqlanon_rows") AS BIGINT) AS "size", CAST(SUM("__sqlanon_rows") AS BIGINT) AS "entities"
FROM "recoded"
GROUP BY "class_id"
