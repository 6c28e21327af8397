-- Look for: the hierarchy of the column is that of its items: unnested, each once in a list, with how many lists have it.

CREATE TEMPORARY TABLE "__sqlanon_item_1" AS
SELECT
  COALESCE("occurring"."value", "listed"."value") AS "value", COALESCE("occurring"."n", 0) AS "n", "listed"."level_1",
  NOT "listed"."listed" IS NULL AS "listed"
FROM ({occurring-3}) AS "occurring"
FULL JOIN (
  SELECT TRY_CAST("value" AS TEXT) AS "value", MAX("label") FILTER(WHERE "level" = 1) AS "level_1", TRUE AS "listed"
  FROM "anon"."hierarchy_value"
  WHERE "hierarchy" = 'chapters' AND ("value" IS NULL OR NOT TRY_CAST("value" AS TEXT) IS NULL)
  GROUP BY TRY_CAST("value" AS TEXT)
) AS "listed" ON "occurring"."value" IS NOT DISTINCT FROM "listed"."value";

SELECT COUNT(*)
FROM (
  SELECT CAST("value" AS TEXT) AS "value"
  FROM "__sqlanon_item_1"
  WHERE NOT "listed" AND NOT "value" IS NULL
) AS "missing";
