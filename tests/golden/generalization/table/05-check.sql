-- Look for: the requirement asked again of the candidate's own columns, and of no temporary table: what the search
-- believed has no part in it; classes are structs of the published labels.

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
    FROM "memory"."main"."__sqlanon_candidate_1"
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
