-- Look for: only the other fragment is drawn (bucket_1): what is asked of the first is known of each row.

CREATE TEMPORARY TABLE "__sqlanon_combination_1" AS
SELECT
  "class"."id", 0 AS "key", "class"."n", 1 AS "number", CAST(1 AS INT128) AS "unit",
  CAST(1 AS DOUBLE) * "bucket_1"."share" AS "share",
  COALESCE(("class"."part_0" AND "bucket_1"."part_0") AND TRUE, FALSE) AS "holds", CAST(1 AS DOUBLE) AS "mean",
  CAST(1 AS DOUBLE) AS "square", CAST(CAST((1) AS INT128) AS INT128) AS "least",
  CAST(CAST((1) AS INT128) AS INT128) AS "greatest", "class"."bucket" AS "component",
  1 * "bucket_1"."signatures" AS "ways",
  [
    {'place': 0, 'bucket': "class"."bucket", 'signature': "bucket_1"."signature", 'weight': "bucket_1"."weight", 'signatures': "bucket_1"."signatures", 'total': "bucket_1"."total"}
  ] AS "drawn"
FROM "__sqlanon_class_1" AS "class"
JOIN "__sqlanon_signature_1" AS "bucket_1" ON "class"."bucket" IS NOT DISTINCT FROM "bucket_1"."label";
