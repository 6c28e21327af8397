SELECT "tag", COUNT(*) AS "rows" FROM "node_row" GROUP BY "tag"
