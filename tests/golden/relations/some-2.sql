SELECT {#1} AS "text_0" FROM "memory"."main"."patients" LIMIT 100000
