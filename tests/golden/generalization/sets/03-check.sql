-- Look for: class_of_set_0 and class_of_set_1 with structs of some of the labels; classes of a set as sums over those that are published,
-- so that the candidate is read once.

SELECT "place", "achieved", "violating"
FROM (
  WITH "class_value_0" AS ({class_value_0-3}), "equivalence_class" AS ({equivalence_class-9}), "class_of_set_0" AS (
    SELECT "class_id", "size", "entities", {'dob': "class_id"."dob", 'zip': "class_id"."zip"} AS "set_class"
    FROM "equivalence_class"
  ), "class_of_set_1" AS (
    SELECT "class_id", "size", "entities", {'sex': "class_id"."sex", 'zip': "class_id"."zip"} AS "set_class"
    FROM "equivalence_class"
  ), "sensitive_code_0" AS (
    SELECT "value_0", ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
    FROM (SELECT DISTINCT "value_0" FROM "class_value_0") AS "occurring"
  ), "class_sensitive_value_0" AS ({class_sensitive_value_0-2}), "equivalence_class_on_0" AS (
    {equivalence_class_on_0-2("class_of_set_0")}
  ), "class_sensitive_value_0_on_1" AS ({class_sensitive_value_0_on_1-2("class_sensitive_value_0", "class_of_set_1")})
  SELECT *
  FROM (
    SELECT
      0 AS "place",
      CAST((
        SELECT MIN("entities") AS "achieved"
        FROM "equivalence_class_on_0" AS "equivalence_class"
      ) AS DOUBLE) AS "achieved",
      (SELECT COUNT(*) FROM ({violation-2("equivalence_class_on_0", 3)}) AS "violations") AS "violating"
    UNION ALL
    SELECT
      1 AS "place", CAST(({class_sensitive_value("class_sensitive_value_0_on_1")}) AS DOUBLE) AS "achieved",
      ({violating-4("class_sensitive_value_0_on_1", 3)}) AS "violating"
  ) AS "report"
) AS "reported";
