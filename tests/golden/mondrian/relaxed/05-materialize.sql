-- Look for: the source's rowid under a name of sqlanon's own, joined to the regions, and not among what is selected at
-- the end.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM (
  WITH "source" AS NOT MATERIALIZED (
    SELECT "dob", "sex", "zip", "disease", "source"."rowid" AS "__sqlanon_row"
    FROM "memory"."main"."patients" AS "source"
  ), "placement" AS (SELECT "row", "region" FROM "__sqlanon_row_regions_1"), "recoded" AS MATERIALIZED (
    SELECT
      "region"."class" AS "class_id", "region"."label_0" AS "label_0", "region"."label_1" AS "label_1",
      "region"."label_2" AS "label_2", "source"."disease" AS "column_3"
    FROM "source"
    JOIN "placement" ON "source"."__sqlanon_row" = "placement"."row"
    JOIN "__sqlanon_labels_1" AS "region" ON "region"."region" = "placement"."region"
  ), "equivalence_class" AS ({equivalence_class-6("recoded")}), "kept" AS ({kept-2(3)})
  SELECT
    "recoded"."label_0" AS "dob", "recoded"."label_1" AS "sex", "recoded"."label_2" AS "zip",
    "recoded"."column_3" AS "disease"
  FROM "recoded"
  JOIN "kept" ON "recoded"."class_id" = "kept"."class_id"
) AS "released"
ORDER BY udf(0) ASC NULLS LAST;
