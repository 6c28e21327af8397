-- Look for: each value's label at the levels that a round chose, and no other; equal labels of two levels have one
-- number, since rows of different rounds with the same labels are one class.

CREATE TEMPORARY TABLE "__sqlanon_labels_1" AS
SELECT "coded".*, "labels".* EXCLUDE ("value")
FROM (SELECT "value", ("rank_0" << 0) AS "key_0" FROM "__sqlanon_tree_1") AS "coded"
JOIN (
  WITH "labelled" AS (
    SELECT "value", "value" AS "label_0"
    FROM (
      SELECT "value", "n"
      FROM (SELECT "value", "n" FROM "__sqlanon_tree_1" AS "tree") AS "occurring"
    ) AS "generalized"
  )
  SELECT
    "value", MAX(CASE WHEN "level" = 0 THEN "label" END) AS "label_0",
    MAX(CASE WHEN "level" = 0 THEN "code" END) AS "code_0"
  FROM (
    SELECT "value", "level", "label", CAST(DENSE_RANK() OVER (ORDER BY "label" ASC NULLS LAST) - 1 AS BIGINT) AS "code"
    FROM (SELECT "value", 0 AS "level", "label_0" AS "label" FROM "labelled") AS "shown"
  ) AS "numbers"
  GROUP BY "value"
) AS "labels" ON "labels"."value" IS NOT DISTINCT FROM "coded"."value";

CREATE TEMPORARY TABLE "__sqlanon_labels_2" AS
SELECT "coded".*, "labels".* EXCLUDE ("value")
FROM (SELECT "value", ("rank_0" << 1) + ("rank_1" << 4) AS "key_0" FROM "__sqlanon_tree_2") AS "coded"
JOIN (
  WITH "labelled" AS (
    SELECT "value", CAST("value" AS TEXT) AS "label_0", "level_1" AS "label_1"
    FROM (
      SELECT
        "value", "n", LEFT(CAST("value" AS TEXT), 4) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 4) AS "level_1",
        LEFT(CAST("value" AS TEXT), 3) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 3) AS "level_2",
        LEFT(CAST("value" AS TEXT), 2) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 2) AS "level_3"
      FROM (SELECT "value", "n" FROM "__sqlanon_tree_2" AS "tree") AS "occurring"
    ) AS "generalized"
  )
  SELECT
    "value", MAX(CASE WHEN "level" = 0 THEN "label" END) AS "label_0",
    MAX(CASE WHEN "level" = 0 THEN "code" END) AS "code_0", MAX(CASE WHEN "level" = 1 THEN "label" END) AS "label_1",
    MAX(CASE WHEN "level" = 1 THEN "code" END) AS "code_1"
  FROM ({numbers}) AS "numbers"
  GROUP BY "value"
) AS "labels" ON "labels"."value" IS NOT DISTINCT FROM "coded"."value";

SELECT
  (SELECT GREATEST(COALESCE(MAX("code_0"), -1)) + 1 FROM "__sqlanon_labels_1" AS "labels") AS "labels_0",
  (
    SELECT GREATEST(COALESCE(MAX("code_0"), -1), COALESCE(MAX("code_1"), -1)) + 1
    FROM "__sqlanon_labels_2" AS "labels"
  ) AS "labels_1";
