SELECT "value", CAST("system"."main".sum("n") AS BIGINT) AS "n" FROM {#1} GROUP BY "value"
