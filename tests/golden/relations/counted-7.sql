SELECT
  "class", "code_0", MAX(CASE WHEN NOT "value" <> 0 THEN "n" END) AS "n",
  COALESCE(MAX(CASE WHEN "value" <> 0 THEN "n" END), 0) AS "most"
FROM (
  SELECT "item_0"."class", "item_0"."code" AS "code_0", "held"."value", COUNT(*) AS "n"
  FROM {#1} AS "item_0"
  JOIN {#2} AS "held" ON "held"."list_id" = "item_0"."list_id"
  GROUP BY "item_0"."class", "item_0"."code", "held"."value"
) AS "counted"
GROUP BY "class", "code_0"
