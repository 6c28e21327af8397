-- Look for: classes by the columns in parentheses alone; one pass for three models, each with its `achieved` and its
-- number of `violations`; no catalog and no temporary table.

SELECT "place", "achieved", "violating"
FROM (
  WITH "class_value_0" AS (
    SELECT {'dob': "dob", 'sex': "sex"} AS "class_id", "disease" AS "value_0", COUNT(*) AS "n"
    FROM (SELECT "dob" AS "dob", "sex" AS "sex", "disease" AS "disease" FROM "memory"."main"."patients") AS "checked"
    GROUP BY "dob", "sex", "disease"
  ), "equivalence_class" AS ({equivalence_class-9}), "sensitive_code_0" AS (
    SELECT "value_0", ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
    FROM (SELECT DISTINCT "value_0" FROM "class_value_0") AS "occurring"
  ), "class_sensitive_value_0" AS ({class_sensitive_value_0-2}), "sensitive_value_0" AS (
    {sensitive_value_0("class_sensitive_value_0")}
  )
  SELECT *
  FROM (
    SELECT
      0 AS "place", CAST((SELECT MIN("entities") AS "achieved" FROM "equivalence_class") AS DOUBLE) AS "achieved",
      ({violating-3(2)}) AS "violating"
    UNION ALL
    SELECT
      1 AS "place", CAST(({class_sensitive_value("class_sensitive_value_0")}) AS DOUBLE) AS "achieved",
      ({violating-4("class_sensitive_value_0", 2)}) AS "violating"
    UNION ALL
    SELECT
      2 AS "place", CAST(({sensitive_value}) AS DOUBLE) AS "achieved", ({violating-6(0.5, '2', '1')}) AS "violating"
  ) AS "report"
) AS "reported";
