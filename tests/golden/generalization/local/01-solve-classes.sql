-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_classes_1" AS
WITH "node_row" AS (
  SELECT
    "tag" - 28 AS "tag",
    *
    EXCLUDE ("tag")
  FROM "__sqlanon_rollup_1"
  WHERE
    "tag" BETWEEN 28 AND 28
), "equivalence_class" AS (
  SELECT
    (
      "tag" << 10
    ) + "key_0" AS "class_id",
    "n" AS "size",
    "n" AS "entities"
  FROM "node_row"
), "withheld" AS (
  SELECT
    "class_id" >> 10 AS "place",
    "class_id",
    "size"
  FROM (
    SELECT
      "class_id",
      "size",
      CAST("size" AS DOUBLE) AS "excess"
    FROM "equivalence_class"
    WHERE
      "entities" < 4
  ) AS "violation"
)
SELECT
  "class_id" AS "key_0"
FROM "equivalence_class"
WHERE
  NOT "class_id" IN (
    SELECT
      "class_id"
    FROM "withheld"
  );
