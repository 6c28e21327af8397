-- Look for: each bucket has as many rows in both tables; then the classes of the published table: bucket, and the value beside the
-- disease.

SELECT COUNT(*)
FROM (
  SELECT "bucket"
  FROM (
    SELECT "bucket", 0 AS "table_index", COUNT(*) AS "n"
    FROM "memory"."main"."__sqlanon_candidate_1" AS "table_rows"
    GROUP BY "bucket"
    UNION ALL
    SELECT "bucket", 1 AS "table_index", COUNT(*) AS "n"
    FROM "memory"."main"."__sqlanon_candidate_2" AS "table_rows"
    GROUP BY "bucket"
  ) AS "counted"
  GROUP BY "bucket"
  HAVING MIN("n") <> MAX("n") OR COUNT(*) <> 2 OR "bucket" IS NULL
) AS "broken";

SELECT "place", "achieved", "violating"
FROM (
  WITH "class_value_0" AS (
    SELECT {'bucket': "bucket", 'sex': "sex"} AS "class_id", "disease" AS "value_0", COUNT(*) AS "n"
    FROM "memory"."main"."__sqlanon_candidate_2"
    GROUP BY "bucket", "sex", "disease"
  ), "equivalence_class" AS ({equivalence_class-9}), "sensitive_code_0" AS (
    SELECT "value_0", ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
    FROM (SELECT DISTINCT "value_0" FROM "class_value_0") AS "occurring"
  ), "class_sensitive_value_0" AS ({class_sensitive_value_0-2})
  SELECT *
  FROM (
    SELECT 0 AS "place", CAST(({equivalence_class-8}) AS DOUBLE) AS "achieved", ({violating-5('2')}) AS "violating"
  ) AS "report"
) AS "reported";

SELECT "place", "achieved", "violating" FROM ({reported(3)}) AS "reported";
