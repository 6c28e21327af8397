-- Look for: the source's rowid under a name of sqlanon's own, joined to the regions, and not among what is selected at
-- the end.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM (
  WITH "source" AS NOT MATERIALIZED (
    SELECT "dob", "sex", "zip", "disease", "source"."rowid" AS "__sqlanon_row"
    FROM "memory"."main"."patients" AS "source"
  ), "placement" AS (SELECT "row", "region" FROM "__sqlanon_row_regions_1"), "recoded" AS MATERIALIZED (
    {recoded("__sqlanon_labels_1")}
  ), "equivalence_class" AS ({equivalence_class-6("recoded")}), "kept" AS ({kept-2(3)})
  SELECT
    "recoded"."label_0" AS "dob", "recoded"."label_1" AS "sex", "recoded"."label_2" AS "zip",
    "recoded"."column_3" AS "disease"
  FROM "recoded"
  JOIN "kept" ON "recoded"."class_id" = "kept"."class_id"
) AS "released"
ORDER BY udf(0) ASC NULLS LAST;
