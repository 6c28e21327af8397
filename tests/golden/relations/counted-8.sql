SELECT
  "class", MAX(CASE WHEN NOT "value" <> 0 THEN "n" END) AS "n",
  COALESCE(MAX(CASE WHEN "value" <> 0 THEN "n" END), 0) AS "most"
FROM (SELECT "class", "value", COUNT(*) AS "n" FROM {#1} GROUP BY "class", "value") AS "counted"
GROUP BY "class"
