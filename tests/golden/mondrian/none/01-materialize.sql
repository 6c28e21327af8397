-- Look for: exact quasi-identifiers and a bucket; two draws a row, one for the row's own place and one for the
-- value's; MATERIALIZED, so that each is drawn once; values never leave their bucket.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM (
  WITH "drawn" AS MATERIALIZED (
    SELECT *, udf(0) AS "__sqlanon_row_order", udf(1) AS "__sqlanon_value_order"
    FROM (
      WITH "source" AS NOT MATERIALIZED (
        SELECT "dob", "sex", "zip", "disease"
        FROM "memory"."main"."patients"
      ), "placement" AS (
        SELECT "value_0", "value_1", "value_2", "region"
        FROM "__sqlanon_row_regions_1"
      ), "recoded" AS MATERIALIZED (
        SELECT
          "region"."class" AS "class_id", "source"."dob" AS "label_0", "source"."sex" AS "label_1",
          "source"."zip" AS "label_2", "source"."disease" AS "column_3"
        FROM "source"
        JOIN "placement"
          ON "source"."dob" IS NOT DISTINCT FROM "placement"."value_0"
          AND "source"."sex" IS NOT DISTINCT FROM "placement"."value_1"
          AND "source"."zip" IS NOT DISTINCT FROM "placement"."value_2"
        JOIN "__sqlanon_labels_1" AS "region" ON "region"."region" = "placement"."region"
      ), "equivalence_class" AS ({equivalence_class-6("recoded")}), "kept" AS ({kept-2(3)})
      SELECT
        "recoded"."label_0" AS "dob", "recoded"."label_1" AS "sex", "recoded"."label_2" AS "zip",
        "recoded"."column_3" AS "disease", "recoded"."class_id" AS "bucket"
      FROM "recoded"
      JOIN "kept" ON "recoded"."class_id" = "kept"."class_id"
    ) AS "released"
  )
  SELECT "row"."dob", "row"."sex", "row"."zip", "value"."disease", "row"."bucket"
  FROM (
    SELECT
      "dob", "sex", "zip", "bucket",
      ROW_NUMBER() OVER (PARTITION BY "bucket" ORDER BY "__sqlanon_row_order" ASC NULLS LAST) AS "__sqlanon_position"
    FROM "drawn"
  ) AS "row"
  JOIN (
    SELECT
      "bucket", "disease",
      ROW_NUMBER() OVER (PARTITION BY "bucket" ORDER BY "__sqlanon_value_order" ASC NULLS LAST) AS "__sqlanon_position"
    FROM "drawn"
  ) AS "value" ON "row"."bucket" = "value"."bucket" AND "row"."__sqlanon_position" = "value"."__sqlanon_position"
) AS "released"
ORDER BY udf(0) ASC NULLS LAST;
