SELECT "batch_query"."query", "constant"."low", "constant"."high"
FROM "__sqlanon_constant_1" AS "constant"
JOIN {#1} AS "batch_query" ON "constant"."query_id" = "batch_query"."query_id"
WHERE "constant"."column_index" = {#2}
