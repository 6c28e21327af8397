-- Look for: leaves carry the number of their label; a masked postal code is all the numbers that it may stand for,
-- with weight 1 each, and the other texts between them with weight 0; last, the leaves that satisfy
-- each query, by joins with the constants: they are added up in arrays to the share of each label.

CREATE TEMPORARY TABLE "__sqlanon_leaf_2" AS
SELECT "labels"."number", "leaf"."value", "leaf"."weight"
FROM "__sqlanon_label_1" AS "labels"
JOIN "__sqlanon_leaf_1" AS "leaf" ON "labels"."label" IS NOT DISTINCT FROM "leaf"."label";

CREATE TEMPORARY TABLE "__sqlanon_leaf_3" AS
WITH "shown" AS (SELECT * FROM "__sqlanon_labels_2" AS "labels"), "span" AS (
  SELECT *
  FROM "__sqlanon_span_2"
), "cut" AS (SELECT "at" FROM "__sqlanon_cut_2" AS "cut"), "piece" AS ({piece})
SELECT "label", CAST(("at") AS TEXT) AS "value", "weight", "mean", "square", "least", "greatest"
FROM (
  SELECT
    "label", CASE WHEN "side" = 0 THEN "at" ELSE "at" || CHR(0) END AS "at",
    CASE WHEN "known" AND "single" THEN 1.0 WHEN COALESCE("known", TRUE) THEN 0.0 END AS "weight",
    CAST(NULL AS DOUBLE) AS "mean", CAST(NULL AS DOUBLE) AS "square", CAST(NULL AS DOUBLE) AS "least",
    CAST(NULL AS DOUBLE) AS "greatest"
  FROM "piece"
  WHERE
    ("side" = 0 OR "to_side" = 1 OR "at" || CHR(0) < "to_at")
    AND NOT (NOT "mask" IS NULL AND "side" = 0 AND "to_side" = 1 AND "at" = "to_at" AND LENGTH("at") <> LENGTH("mask"))
) AS "leaf"
UNION ALL
SELECT *
FROM (
  WITH "masked" AS (
    SELECT "label", "low", LENGTH("mask") - LENGTH("low") AS "stars"
    FROM "span"
    WHERE "known" AND NOT "mask" IS NULL
  ), "digits" AS (
    SELECT
      "label", "low", CAST("stars" AS INT) AS "stars",
      UNNEST(GENERATE_SERIES(CAST(0 AS BIGINT), CAST(POWER(10, "stars") - 1 AS BIGINT))) AS "number"
    FROM "masked"
  )
  SELECT
    "label", "low" || LPAD(CAST("number" AS TEXT), "stars", '0') AS "value", CAST(1 AS DOUBLE) AS "weight",
    CAST(NULL AS DOUBLE) AS "mean", CAST(NULL AS DOUBLE) AS "square", NULL AS "least", NULL AS "greatest"
  FROM "digits"
) AS "part"
UNION ALL
SELECT
  "label", CAST(NULL AS TEXT) AS "value", MAX("weight") AS "weight", CAST(NULL AS DOUBLE) AS "mean",
  CAST(NULL AS DOUBLE) AS "square", NULL AS "least", NULL AS "greatest"
FROM ({null_label}) AS "null_label"
GROUP BY "label";

SELECT "number", COUNT(*) AS "leaves", COUNT("weight") AS "known", COALESCE(CAST(SUM("weight") AS DOUBLE), 0) AS "total"
FROM "__sqlanon_leaf_2" AS "leaf"
GROUP BY "number";

SELECT "query", "number", COALESCE(CAST("weight" AS DOUBLE), 0) AS "weight"
FROM (
  SELECT "bounds"."query", "leaf"."number", "leaf"."weight"
  FROM "__sqlanon_leaf_2" AS "leaf"
  JOIN ({bounds("__sqlanon_among_1")}) AS "bounds" ON CAST("leaf"."value" AS DATE) = "bounds"."low"
) AS "satisfying";

SELECT "query", "number", COALESCE(CAST("weight" AS DOUBLE), 0) AS "weight"
FROM (
  SELECT "bounds"."query", "leaf"."number", "leaf"."weight"
  FROM "__sqlanon_leaf_4" AS "leaf"
  JOIN ({bounds-2("__sqlanon_among_1", 1)}) AS "bounds" ON CAST("leaf"."value" AS TEXT) = "bounds"."low"
) AS "satisfying";
