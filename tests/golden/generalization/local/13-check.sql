-- Look for: no word about rounds: the classes are those of the published columns.

SELECT
  "place",
  "achieved",
  "violating"
FROM (
  WITH "equivalence_class" AS (
    SELECT
      {'sex': "sex", 'zip': "zip"} AS "class_id",
      COUNT(*) AS "size",
      COUNT(*) AS "entities"
    FROM "memory"."main"."__sqlanon_candidate_1"
    GROUP BY
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
            "entities" < 2
        ) AS "violations"
      ) AS "violating"
  ) AS "report"
) AS "reported";
