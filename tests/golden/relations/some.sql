SELECT "sex" AS "text_0", {#1} AS "text_1" FROM "memory"."main"."patients" LIMIT 100000
