-- Look for: one pass over the candidate for both requirements; sensitive values are coded anew from what is published;
-- `achieved` is no excess, and has a text of its own.

SELECT "place", "achieved", "violating"
FROM (
  WITH "class_value_0" AS ({class_value_0-3}), "equivalence_class" AS ({equivalence_class-9}), "sensitive_code_0" AS (
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
      1 AS "place", CAST(({sensitive_value}) AS DOUBLE) AS "achieved", ({violating-6(0.5, '2', '1')}) AS "violating"
  ) AS "report"
) AS "reported";
