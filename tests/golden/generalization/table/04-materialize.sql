-- Look for: the cells turned back into rows, with their numbers; labels only of values that occur; a class_id of two
-- words, since three codes of 31 bits do not fit one; the classes that the model's own violations leave; then the rows,
-- joined with both: no column but those of the policy, and sorted by a drawn number.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM (
  WITH "source" AS NOT MATERIALIZED (
    SELECT "dob", "sex", "zip", "disease"
    FROM "memory"."main"."patients"
  ), "recode_0" AS ({recode_0-2}), "recode_1" AS ({recode_0}), "recode_2" AS ({recode_2}), "recoded" AS MATERIALIZED (
    {recoded-2}
  ), "equivalence_class" AS ({equivalence_class-6("recoded")}), "kept" AS ({kept-2(4)})
  SELECT
    "recoded"."label_0" AS "dob", "recoded"."label_1" AS "sex", "recoded"."label_2" AS "zip",
    "recoded"."column_3" AS "disease"
  FROM "recoded"
  JOIN "kept" ON "recoded"."class_id" = "kept"."class_id"
) AS "released"
ORDER BY udf(0) ASC NULLS LAST;
