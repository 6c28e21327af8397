SELECT "bucket", SUM("n") AS "n"
FROM (SELECT {#1} AS "bucket", 1 AS "n" FROM (SELECT * FROM "memory"."main".{#2}) AS "released") AS "class"
GROUP BY "bucket"
