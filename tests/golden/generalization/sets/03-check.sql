-- Look for: class_of_set_0 and class_of_set_1 with structs of some of the labels; classes of a set as sums over those that are published,
-- so that the candidate is read once.

SELECT
  "place",
  "achieved",
  "violating"
FROM (
  WITH "class_value_0" AS (
    SELECT
      {'dob': "dob", 'sex': "sex", 'zip': "zip"} AS "class_id",
      "disease" AS "value_0",
      COUNT(*) AS "n"
    FROM "memory"."main"."__sqlanon_candidate_1"
    GROUP BY
      "dob",
      "sex",
      "zip",
      "disease"
  ), "equivalence_class" AS (
    SELECT
      "class_id",
      CAST(SUM("n") AS BIGINT) AS "size",
      CAST(SUM("n") AS BIGINT) AS "entities"
    FROM "class_value_0"
    GROUP BY
      "class_id"
  ), "class_of_set_0" AS (
    SELECT
      "class_id",
      "size",
      "entities",
      {'dob': "class_id"."dob", 'zip': "class_id"."zip"} AS "set_class"
    FROM "equivalence_class"
  ), "class_of_set_1" AS (
    SELECT
      "class_id",
      "size",
      "entities",
      {'sex': "class_id"."sex", 'zip': "class_id"."zip"} AS "set_class"
    FROM "equivalence_class"
  ), "sensitive_code_0" AS (
    SELECT
      "value_0",
      ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
    FROM (
      SELECT DISTINCT
        "value_0"
      FROM "class_value_0"
    ) AS "occurring"
  ), "class_sensitive_value_0" AS (
    SELECT
      "counted"."class_id",
      "coded"."code" AS "value",
      "counted"."n"
    FROM "class_value_0" AS "counted"
    JOIN "sensitive_code_0" AS "coded"
      ON "counted"."value_0" IS NOT DISTINCT FROM "coded"."value_0"
  ), "equivalence_class_on_0" AS (
    SELECT
      "set_class" AS "class_id",
      CAST(SUM("size") AS BIGINT) AS "size",
      CAST(SUM("entities") AS BIGINT) AS "entities"
    FROM "class_of_set_0"
    GROUP BY
      "set_class"
  ), "class_sensitive_value_0_on_1" AS (
    SELECT
      "class"."set_class" AS "class_id",
      "part"."value",
      CAST(SUM("part"."n") AS BIGINT) AS "n"
    FROM "class_sensitive_value_0" AS "part"
    JOIN "class_of_set_1" AS "class"
      ON "part"."class_id" = "class"."class_id"
    GROUP BY
      "class"."set_class",
      "part"."value"
  )
  SELECT
    *
  FROM (
    SELECT
      0 AS "place",
      CAST((
        SELECT
          MIN("entities") AS "achieved"
        FROM "equivalence_class_on_0" AS "equivalence_class"
      ) AS DOUBLE) AS "achieved",
      (
        SELECT
          COUNT(*)
        FROM (
          SELECT
            "class_id",
            "size",
            CAST("size" AS DOUBLE) AS "excess"
          FROM "equivalence_class_on_0" AS "equivalence_class"
          WHERE
            "entities" < 3
        ) AS "violations"
      ) AS "violating"
    UNION ALL
    SELECT
      1 AS "place",
      CAST((
        SELECT
          MIN("distinct_values") AS "achieved"
        FROM (
          SELECT
            COUNT(*) AS "distinct_values"
          FROM "class_sensitive_value_0_on_1" AS "class_sensitive_value"
          GROUP BY
            "class_id"
        ) AS "class"
      ) AS DOUBLE) AS "achieved",
      (
        SELECT
          COUNT(*)
        FROM (
          SELECT
            "class_id",
            CAST(SUM("n") AS BIGINT) AS "size",
            CAST(SUM("n") AS DOUBLE) AS "excess"
          FROM "class_sensitive_value_0_on_1" AS "class_sensitive_value"
          GROUP BY
            "class_id"
          HAVING
            COUNT(*) < 3
        ) AS "violations"
      ) AS "violating"
  ) AS "report"
) AS "reported";
