-- Look for: the text that checked the candidate, on the release by its full name: a release is measured as it was when
-- it was made.

SELECT
  "place",
  "achieved",
  "violating"
FROM (
  WITH "equivalence_class" AS (
    SELECT
      {'dob': "dob", 'sex': "sex", 'zip': "zip"} AS "class_id",
      COUNT(*) AS "size",
      COUNT(*) AS "entities"
    FROM "memory"."main"."hospital_release"
    GROUP BY
      "dob",
      "sex",
      "zip"
  )
  SELECT
    *
  FROM (
    SELECT
      0 AS "place",
      CAST((
        SELECT
          MIN("entities") AS "achieved"
        FROM "equivalence_class"
      ) AS DOUBLE) AS "achieved",
      (
        SELECT
          COUNT(*)
        FROM (
          SELECT
            "class_id",
            "size",
            CAST("size" AS DOUBLE) AS "excess"
          FROM "equivalence_class"
          WHERE
            "entities" < 4
        ) AS "violations"
      ) AS "violating"
  ) AS "report"
) AS "reported";
