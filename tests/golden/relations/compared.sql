SELECT "among"."query", "constant"."low", "constant"."high"
FROM "__sqlanon_constant_1" AS "constant"
JOIN {#1} AS "among" ON "constant"."query_id" = "among"."query_id"
WHERE "constant"."column_index" = {#2}
