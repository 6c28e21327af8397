-- Look for: a bucket has as many rows as its counts add up to, since rows and counts do not pair one to one any more;
-- three models over one set of classes.

SELECT COUNT(*)
FROM (
  SELECT "bucket"
  FROM (
    SELECT "bucket", CAST(1 AS BIGINT) AS "n"
    FROM "memory"."main"."__sqlanon_candidate_1" AS "exact"
    UNION ALL
    SELECT "bucket", -"count" AS "n"
    FROM "memory"."main"."__sqlanon_candidate_2" AS "sensitive"
  ) AS "either"
  GROUP BY "bucket"
  HAVING SUM("n") <> 0
) AS "bucket";

SELECT "place", "achieved", "violating"
FROM (
  WITH "equivalence_class" AS ({equivalence_class-5}), "sensitive_code_0" AS (
    {sensitive_code_0-2}
  ), "class_sensitive_value_0" AS ({class_sensitive_value_0-4}), "sensitive_value_0" AS (
    {sensitive_value_0("class_sensitive_value_0")}
  )
  SELECT *
  FROM (
    SELECT
      0 AS "place", CAST((SELECT MIN("entities") AS "achieved" FROM "equivalence_class") AS DOUBLE) AS "achieved",
      ({violating-3(3)}) AS "violating"
    UNION ALL
    SELECT
      1 AS "place", CAST(({sensitive_value}) AS DOUBLE) AS "achieved", ({violating-6(0.4, '5', '2')}) AS "violating"
    UNION ALL
    SELECT 2 AS "place", CAST(({equivalence_class-8}) AS DOUBLE) AS "achieved", ({violating-5('3')}) AS "violating"
  ) AS "report"
) AS "reported";
