-- Look for: k of the buckets alone; p(t,s) is not computed, for the published tables do not say which combinations are people.

SELECT
  "place",
  "achieved",
  "violating"
FROM (
  WITH "equivalence_class" AS (
    SELECT
      "class_id",
      COUNT(*) AS "size",
      COUNT(*) AS "entities"
    FROM (
      SELECT
        "bucket" AS "class_id",
        "disease" AS "value"
      FROM "memory"."main"."__sqlanon_candidate_2"
    ) AS "bucket_row"
    GROUP BY
      "class_id"
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
            "entities" < 10
        ) AS "violations"
      ) AS "violating"
  ) AS "report"
) AS "reported";
