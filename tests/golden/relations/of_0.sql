SELECT "region", {#1}, CAST(CAST(SUM("n") AS BIGINT) AS DOUBLE) AS "n"
FROM "__sqlanon_state_1" AS "state"
GROUP BY "region", {#1}
