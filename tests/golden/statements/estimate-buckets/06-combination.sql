-- Look for: each class with each kind of value of its bucket; component is the bucket, and `drawn` says which value it
-- was of which place: a value that one row has no other has.

CREATE TEMPORARY TABLE "__sqlanon_combination_1" AS
SELECT
  "class"."id", 0 AS "key", "class"."n", 1 AS "number", CAST(1 AS INT128) AS "unit",
  CAST(1 AS DOUBLE) * "bucket_0"."share" AS "share",
  COALESCE(("class"."part_0" AND "bucket_0"."part_0") AND TRUE, FALSE) AS "holds", CAST(1 AS DOUBLE) AS "mean",
  CAST(1 AS DOUBLE) AS "square", CAST(CAST((1) AS INT128) AS INT128) AS "least",
  CAST(CAST((1) AS INT128) AS INT128) AS "greatest", "class"."bucket" AS "component",
  1 * "bucket_0"."signatures" AS "ways",
  [
    {'place': 0, 'bucket': "class"."bucket", 'signature': "bucket_0"."signature", 'weight': "bucket_0"."weight", 'signatures': "bucket_0"."signatures", 'total': "bucket_0"."total"}
  ] AS "drawn"
FROM "__sqlanon_class_1" AS "class"
JOIN "__sqlanon_signature_1" AS "bucket_0" ON "class"."bucket" IS NOT DISTINCT FROM "bucket_0"."label";
