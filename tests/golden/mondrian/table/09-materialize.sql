-- Look for: cells find their region by their own values, with NULL as a value, and so do rows; no recode_i; class_id is
-- the region's class; the guard stands here too, though no region violates.

CREATE TEMPORARY TABLE "__sqlanon_classes_1" AS
WITH "source" AS NOT MATERIALIZED (SELECT * FROM "__sqlanon_decoded_1"), "placement" AS (
  SELECT "value_0", "value_1", "value_2", "region"
  FROM "__sqlanon_row_regions_1"
), "recoded" AS NOT MATERIALIZED ({recoded("__sqlanon_rows", "__sqlanon_rows")}), "equivalence_class" AS (
  {equivalence_class-4}
), "kept" AS ({kept-2(3)})
SELECT "class_id" AS "key_0"
FROM "kept";

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM (
  WITH "source" AS NOT MATERIALIZED (
    SELECT "dob", "sex", "zip", "disease"
    FROM "memory"."main"."patients"
  ), "placement" AS (
    SELECT "value_0", "value_1", "value_2", "region"
    FROM "__sqlanon_row_regions_1"
  ), "recoded" AS NOT MATERIALIZED ({recoded("disease", "column_3")}), "kept" AS (
    SELECT "key_0" AS "class_id"
    FROM "__sqlanon_classes_1"
  )
  SELECT
    "recoded"."label_0" AS "dob", "recoded"."label_1" AS "sex", "recoded"."label_2" AS "zip",
    "recoded"."column_3" AS "disease"
  FROM "recoded"
  JOIN "kept" ON "recoded"."class_id" = "kept"."class_id"
) AS "released"
ORDER BY udf(0) ASC NULLS LAST;
