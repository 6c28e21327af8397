SELECT "label", COUNT(*) AS "n" FROM {#1} AS "value" GROUP BY "label"
