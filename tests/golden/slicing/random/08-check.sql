-- Look for: four tables with the same buckets; a class is a bucket, since nothing stands beside the disease.

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
    UNION ALL
    SELECT "bucket", 2 AS "table_index", COUNT(*) AS "n"
    FROM "memory"."main"."__sqlanon_candidate_3" AS "table_rows"
    GROUP BY "bucket"
    UNION ALL
    SELECT "bucket", 3 AS "table_index", COUNT(*) AS "n"
    FROM "memory"."main"."__sqlanon_candidate_4" AS "table_rows"
    GROUP BY "bucket"
  ) AS "counted"
  GROUP BY "bucket"
  HAVING MIN("n") <> MAX("n") OR COUNT(*) <> 4 OR "bucket" IS NULL
) AS "broken";

SELECT "place", "achieved", "violating"
FROM (
  WITH "class_value_0" AS (
    SELECT "class_id", "value" AS "value_0", COUNT(*) AS "n"
    FROM (
      SELECT "bucket" AS "class_id", "disease" AS "value"
      FROM "memory"."main"."__sqlanon_candidate_4"
    ) AS "bucket_row"
    GROUP BY "class_id", "value"
  ), "equivalence_class" AS ({equivalence_class-9}), "sensitive_code_0" AS (
    SELECT "value_0", ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
    FROM (SELECT DISTINCT "value_0" FROM "class_value_0") AS "occurring"
  ), "class_sensitive_value_0" AS ({class_sensitive_value_0-2})
  SELECT *
  FROM ({report-2(10, '2')}) AS "report"
) AS "reported";
