SELECT CAST(0 AS BIGINT) AS "tag", ("key_0" & {#1}) AS "key_0", CAST(SUM("n") AS BIGINT) AS "n"
FROM "__sqlanon_cells_1"
GROUP BY ("key_0" & {#1})
