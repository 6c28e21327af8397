SELECT "link_0", CAST(COUNT(*) AS DOUBLE) AS "n" FROM {#1} AS "value" GROUP BY "link_0"
