SELECT
  "choice"."query_id", "known"."rank", "known"."text",
  ROW_NUMBER() OVER (
    PARTITION BY "choice"."query_id"
    ORDER BY md5_number_lower(
      CONCAT_WS('/', {#1}, CAST("choice"."query_id" AS TEXT), CAST("known"."rank" AS TEXT))
    ) ASC NULLS LAST
  ) AS "number"
FROM "choice"
CROSS JOIN {#2} AS "known"
WHERE "choice"."attribute" = {#3}
