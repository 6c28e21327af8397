-- Look for: both places are drawn, each from its own group, and their shares multiply; component 0, because the groups
-- of the two fragments hold different rows.

CREATE TEMPORARY TABLE "__sqlanon_combination_1" AS
SELECT
  "class"."id", 0 AS "key", "class"."n", 1 AS "number", CAST(1 AS INT128) AS "unit",
  CAST(1 AS DOUBLE) * "bucket_0"."share" * "bucket_1"."share" AS "share",
  COALESCE(("bucket_0"."part_0" AND "bucket_1"."part_0") AND TRUE, FALSE) AS "holds", CAST(1 AS DOUBLE) AS "mean",
  CAST(1 AS DOUBLE) AS "square", CAST(CAST((1) AS INT128) AS INT128) AS "least",
  CAST(CAST((1) AS INT128) AS INT128) AS "greatest", 0 AS "component",
  1 * "bucket_0"."signatures" * "bucket_1"."signatures" AS "ways",
  [
    {'place': 0, 'bucket': "class"."bucket_0", 'signature': "bucket_0"."signature", 'weight': "bucket_0"."weight", 'signatures': "bucket_0"."signatures", 'total': "bucket_0"."total"},
    {'place': 1, 'bucket': "class"."bucket_1", 'signature': "bucket_1"."signature", 'weight': "bucket_1"."weight", 'signatures': "bucket_1"."signatures", 'total': "bucket_1"."total"}
  ] AS "drawn"
FROM "__sqlanon_class_1" AS "class"
JOIN "__sqlanon_signature_1" AS "bucket_0" ON "class"."bucket_0" IS NOT DISTINCT FROM "bucket_0"."label"
JOIN "__sqlanon_signature_2" AS "bucket_1" ON "class"."bucket_1" IS NOT DISTINCT FROM "bucket_1"."label";
