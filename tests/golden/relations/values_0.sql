SELECT "label", COUNT(*) AS "n" FROM {#1} GROUP BY "label"
