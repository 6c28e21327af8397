-- Look for: classes with the leaves of their labels; number 0 says which groups there are, 1 is count(*); `holds` is
-- the whole condition, and unknown does not hold.

CREATE TEMPORARY TABLE "__sqlanon_combination_1" AS
SELECT
  "class"."id", {'group_0': "class"."part_1"} AS "key", "class"."n", 0 AS "number", CAST(1 AS INT128) AS "unit",
  CAST(1 AS DOUBLE) * "leaf_0"."share" AS "share",
  COALESCE(("leaf_0"."part_0" AND "class"."part_0") AND TRUE, FALSE) AS "holds", CAST(1 AS DOUBLE) AS "mean",
  CAST(1 AS DOUBLE) AS "square", CAST(CAST((1) AS INT128) AS INT128) AS "least",
  CAST(CAST((1) AS INT128) AS INT128) AS "greatest"
FROM "__sqlanon_class_1" AS "class"
JOIN "__sqlanon_signature_1" AS "leaf_0" ON "class"."label_0" IS NOT DISTINCT FROM "leaf_0"."label"
UNION ALL
SELECT
  "class"."id", {'group_0': "class"."part_1"} AS "key", "class"."n", 1 AS "number", CAST(1 AS INT128) AS "unit",
  CAST(1 AS DOUBLE) * "leaf_0"."share" AS "share",
  COALESCE(("leaf_0"."part_0" AND "class"."part_0") AND TRUE, FALSE) AS "holds", CAST(1 AS DOUBLE) AS "mean",
  CAST(1 AS DOUBLE) AS "square", CAST(CAST((1) AS INT128) AS INT128) AS "least",
  CAST(CAST((1) AS INT128) AS INT128) AS "greatest"
FROM "__sqlanon_class_1" AS "class"
JOIN "__sqlanon_signature_1" AS "leaf_0" ON "class"."label_0" IS NOT DISTINCT FROM "leaf_0"."label";
