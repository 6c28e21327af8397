WITH "source" AS NOT MATERIALIZED (
  SELECT "dob", "sex", "zip", "disease"
  FROM "memory"."main"."patients"
), "placement" AS (
  SELECT "value_0", "value_1", "value_2", "region"
  FROM "__sqlanon_row_regions_1"
), "recoded" AS MATERIALIZED (
  SELECT
    "region"."class" AS "class_id", "region"."label_0" AS "label_0", "region"."label_1" AS "label_1",
    "region"."label_2" AS "label_2", "source"."disease" AS "column_3"
  FROM "source"
  JOIN "placement"
    ON "source"."dob" IS NOT DISTINCT FROM "placement"."value_0"
    AND "source"."sex" IS NOT DISTINCT FROM "placement"."value_1"
    AND "source"."zip" IS NOT DISTINCT FROM "placement"."value_2"
  JOIN "__sqlanon_labels_1" AS "region" ON "region"."region" = "placement"."region"
), "equivalence_class" AS ({equivalence_class-6("recoded")}), "kept" AS ({kept-2({#1})})
SELECT
  "recoded"."label_0" AS "dob", "recoded"."label_1" AS "sex", "recoded"."label_2" AS "zip",
  "recoded"."column_3" AS "disease"
FROM "recoded"
JOIN "kept" ON "recoded"."class_id" = "kept"."class_id"
