-- Look for:

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

WITH "snapshot" AS (
  SELECT
    *
  FROM "memory"."main"."hospital_release"
)
SELECT
  CONCAT_WS(':', COUNT(*), BIT_XOR("digest"), SUM(CAST("digest" AS INT128)))
FROM (
  SELECT
    hash(*COLUMNS(*)) AS "digest"
  FROM "snapshot"
);

WITH "snapshot" AS (
  SELECT
    "dob" AS "dob",
    "sex" AS "sex",
    "zip" AS "zip",
    "disease" AS "disease"
  FROM "main"."hospital_release"
)
SELECT
  CONCAT_WS(':', COUNT(*), BIT_XOR("digest"), SUM(CAST("digest" AS INT128)))
FROM (
  SELECT
    hash(*COLUMNS(*)) AS "digest"
  FROM "snapshot"
);

COPY (SELECT "dob" AS "dob", "sex" AS "sex", "zip" AS "zip", "disease" AS "disease" FROM "main"."hospital_release") TO ? WITH (FORMAT parquet, COMPRESSION zstd, KV_METADATA {'sqlanon_certificate': ?});
