-- Look for: spans are cut at each constant, before and behind it, so that a condition is the same all over a piece;
-- weight is the number of days; mean and square for sums; NULL's label has one leaf.

CREATE TEMPORARY TABLE "__sqlanon_leaf_1" AS
WITH "shown" AS (SELECT * FROM "__sqlanon_labels_1" AS "labels"), "span" AS (
  SELECT *
  FROM "__sqlanon_span_1"
), "cut" AS (SELECT "at" FROM "__sqlanon_cut_1" AS "cut"), "piece" AS ({piece})
SELECT
  "label",
  CAST((
    CASE
      WHEN ("at") >= 2147483647 THEN CAST('infinity' AS DATE)
      WHEN ("at") <= -2147483647 THEN CAST('-infinity' AS DATE)
      ELSE CAST('1970-01-01' AS DATE) + CAST(("at") AS INT)
    END
  ) AS DATE) AS "value",
  "weight", "mean", "square", "least", "greatest"
FROM (
  WITH "bounded" AS (
    SELECT *, "at" + "side" AS "first", "to_at" - (1 - "to_side") AS "last"
    FROM "piece"
  ), "counted" AS (
    SELECT
      *,
      CASE
        WHEN "first" > -(CAST(1 AS INT128) << 126) AND "last" < (CAST(1 AS INT128) << 126) - 1
        THEN CAST("last" - "first" + 1 AS DOUBLE)
        ELSE CAST("last" AS DOUBLE) - CAST("first" AS DOUBLE)
      END AS "numbers"
    FROM "bounded"
    WHERE "last" >= "first"
  )
  SELECT
    "label", CASE WHEN "from_open" AND NOT "to_open" THEN "last" ELSE "first" END AS "at",
    CASE WHEN "known" THEN "numbers" END AS "weight", (CAST("first" AS DOUBLE) + CAST("last" AS DOUBLE)) / 2 AS "mean",
    ((CAST("first" AS DOUBLE) + CAST("last" AS DOUBLE)) / 2) * (
      (CAST("first" AS DOUBLE) + CAST("last" AS DOUBLE)) / 2
    ) + ("numbers" * "numbers" - 1) / 12 AS "square",
    CASE WHEN NOT "from_open" THEN "first" END AS "least", CASE WHEN NOT "to_open" THEN "last" END AS "greatest"
  FROM "counted"
) AS "leaf"
UNION ALL
SELECT
  "label", CAST(NULL AS DATE) AS "value", MAX("weight") AS "weight", CAST(NULL AS DOUBLE) AS "mean",
  CAST(NULL AS DOUBLE) AS "square", NULL AS "least", NULL AS "greatest"
FROM ({null_label}) AS "null_label"
GROUP BY "label";

SELECT
  COUNT_IF(
    TRY(
      [
        CASE
          WHEN "leaf_0"."value" IS NULL OR NOT "leaf_0"."value" IS NULL
          THEN CAST(("leaf_0"."value" >= CAST('1950-06-10' AS DATE)) AS BOOLEAN)
        END
      ]
    ) IS NULL
  ) >= 1
FROM "__sqlanon_leaf_1" AS "leaf_0"
WHERE NOT "leaf_0"."value" IS NULL;
