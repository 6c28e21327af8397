SELECT "coded"."value", CAST(COALESCE(SUM("cell"."n"), 0) AS BIGINT) AS "n"
FROM (SELECT "value", ("rank_0" << {#1}) AS "key_0" FROM {#2}) AS "coded"
LEFT JOIN "__sqlanon_cells_3" AS "cell" ON ("cell"."key_0" & {#3}) = "coded"."key_0"
GROUP BY "coded"."value"
