SELECT {#1} AS "value", COUNT(*) AS "n" FROM "memory"."main".{#2} GROUP BY {#1}
