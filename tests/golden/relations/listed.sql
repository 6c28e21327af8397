SELECT "value", "value" AS "label"
FROM (
  SELECT TRY_CAST("value" AS TEXT) AS "value", TRUE AS "listed"
  FROM "anon"."hierarchy_value"
  WHERE "hierarchy" = 'sexes' AND ("value" IS NULL OR NOT TRY_CAST("value" AS TEXT) IS NULL)
  GROUP BY TRY_CAST("value" AS TEXT)
) AS "listed_value"
