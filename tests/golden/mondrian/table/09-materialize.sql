-- Look for: cells find their region by their own values, with NULL as a value, and so do rows; no recode_i; class_id is
-- the region's class; the guard stands here too, though no region violates.

CREATE TEMPORARY TABLE "__sqlanon_classes_1" AS
WITH "source" AS NOT MATERIALIZED (
  SELECT
    *
  FROM "__sqlanon_decoded_1"
), "placement" AS (
  SELECT
    "value_0",
    "value_1",
    "value_2",
    "region"
  FROM "__sqlanon_row_regions_1"
), "recoded" AS NOT MATERIALIZED (
  SELECT
    "region"."class" AS "class_id",
    "region"."label_0" AS "label_0",
    "region"."label_1" AS "label_1",
    "region"."label_2" AS "label_2",
    "source"."__sqlanon_rows" AS "__sqlanon_rows"
  FROM "source"
  JOIN "placement"
    ON "source"."dob" IS NOT DISTINCT FROM "placement"."value_0"
    AND "source"."sex" IS NOT DISTINCT FROM "placement"."value_1"
    AND "source"."zip" IS NOT DISTINCT FROM "placement"."value_2"
  JOIN "__sqlanon_labels_1" AS "region"
    ON "region"."region" = "placement"."region"
), "equivalence_class" AS (
  SELECT
    "class_id",
    CAST(SUM("__sqlanon_rows") AS BIGINT) AS "size",
    CAST(SUM("__sqlanon_rows") AS BIGINT) AS "entities"
  FROM "recoded"
  GROUP BY
    "class_id"
), "kept" AS (
  SELECT
    "class_id"
  FROM "equivalence_class"
  WHERE
    NOT "class_id" IN (
      SELECT
        "class_id"
      FROM (
        SELECT
          "class_id",
          "size",
          CAST("size" AS DOUBLE) AS "excess"
        FROM "equivalence_class"
        WHERE
          "entities" < 3
      ) AS "violations"
    )
)
SELECT
  "class_id" AS "key_0"
FROM "kept";

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT
  *
FROM (
  WITH "source" AS NOT MATERIALIZED (
    SELECT
      "dob",
      "sex",
      "zip",
      "disease"
    FROM "memory"."main"."patients"
  ), "placement" AS (
    SELECT
      "value_0",
      "value_1",
      "value_2",
      "region"
    FROM "__sqlanon_row_regions_1"
  ), "recoded" AS NOT MATERIALIZED (
    SELECT
      "region"."class" AS "class_id",
      "region"."label_0" AS "label_0",
      "region"."label_1" AS "label_1",
      "region"."label_2" AS "label_2",
      "source"."disease" AS "column_3"
    FROM "source"
    JOIN "placement"
      ON "source"."dob" IS NOT DISTINCT FROM "placement"."value_0"
      AND "source"."sex" IS NOT DISTINCT FROM "placement"."value_1"
      AND "source"."zip" IS NOT DISTINCT FROM "placement"."value_2"
    JOIN "__sqlanon_labels_1" AS "region"
      ON "region"."region" = "placement"."region"
  ), "kept" AS (
    SELECT
      "key_0" AS "class_id"
    FROM "__sqlanon_classes_1"
  )
  SELECT
    "recoded"."label_0" AS "dob",
    "recoded"."label_1" AS "sex",
    "recoded"."label_2" AS "zip",
    "recoded"."column_3" AS "disease"
  FROM "recoded"
  JOIN "kept"
    ON "recoded"."class_id" = "kept"."class_id"
) AS "released"
ORDER BY
  udf(0) ASC NULLS LAST;
