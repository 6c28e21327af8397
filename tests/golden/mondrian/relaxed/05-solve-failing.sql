-- Look for: each half as a class, number 2 * region + side; k-anonymity's own text; a region fails if either of its
-- halves violates.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_failing_1" AS
WITH "equivalence_class" AS (
  SELECT
    (
      "child"."region" * 2
    ) + "child"."side" AS "class_id",
    "child"."rows" AS "size",
    "child"."rows" AS "entities"
  FROM "__sqlanon_children_1" AS "child"
)
SELECT DISTINCT
  "class_id" // 2 AS "region"
FROM (
  SELECT
    "class_id",
    "size",
    CAST("size" AS DOUBLE) AS "excess"
  FROM "equivalence_class"
  WHERE
    "entities" < 3
) AS "violation";
