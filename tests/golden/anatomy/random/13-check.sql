-- Look for: the published rows as they stand: each bucket's values in order and once each, both tables of one length
-- and bucket for bucket alike; then the models over (bucket, value, count) as classes.

SELECT
  COUNT(*)
FROM (
  SELECT
    "bucket" AS "current_bucket",
    "value" AS "current_value",
    lag("bucket") OVER () AS "former_bucket",
    lag("value") OVER () AS "former_value",
    "count",
    ROW_NUMBER() OVER () AS "number"
  FROM "memory"."main"."__sqlanon_candidate_2"
) AS "read"
WHERE
  NOT COALESCE(
    (
      "number" = 1
      OR (
        "former_bucket" < "current_bucket"
        OR (
          "former_bucket" = "current_bucket"
          AND (
            "former_value" < "current_value"
            OR (
              NOT "former_value" IS NULL AND "current_value" IS NULL
            )
          )
        )
      )
    )
    AND "count" >= 1,
    FALSE
  );

SELECT
  COUNT(*)
FROM "memory"."main"."__sqlanon_candidate_1" AS "exact"
POSITIONAL JOIN "memory"."main"."__sqlanon_candidate_2" AS "sensitive"
WHERE
  NOT COALESCE("exact"."bucket" = "sensitive"."bucket" AND "sensitive"."count" = 1, FALSE);

SELECT
  COUNT(*)
FROM (
  SELECT
    "bucket",
    lag("bucket") OVER () AS "former",
    ROW_NUMBER() OVER () AS "number"
  FROM "memory"."main"."__sqlanon_candidate_1"
) AS "read"
WHERE
  NOT COALESCE((
    "number" = 1 OR "bucket" >= "former"
  ) AND NOT "bucket" IS NULL, FALSE);

SELECT
  "place",
  "achieved",
  "violating"
FROM (
  WITH "equivalence_class" AS (
    SELECT
      "class_id",
      CAST(SUM("n") AS BIGINT) AS "size",
      CAST(SUM("n") AS BIGINT) AS "entities"
    FROM (
      SELECT
        "class_id" AS "class_id",
        "value" AS "value_0",
        CAST("count" AS BIGINT) AS "n"
      FROM (
        SELECT
          "bucket" AS "class_id",
          "value",
          "count"
        FROM "memory"."main"."__sqlanon_candidate_2"
      ) AS "bucket_row"
    ) AS "class_value_0"
    GROUP BY
      "class_id"
  ), "sensitive_code_0" AS (
    SELECT
      "value_0",
      ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
    FROM (
      SELECT DISTINCT
        "value_0"
      FROM (
        SELECT
          "class_id" AS "class_id",
          "value" AS "value_0",
          CAST("count" AS BIGINT) AS "n"
        FROM (
          SELECT
            "bucket" AS "class_id",
            "value",
            "count"
          FROM "memory"."main"."__sqlanon_candidate_2"
        ) AS "bucket_row"
      ) AS "class_value_0"
    ) AS "occurring"
  ), "class_sensitive_value_0" AS (
    SELECT
      "counted"."class_id",
      "coded"."code" AS "value",
      "counted"."n"
    FROM (
      SELECT
        "class_id" AS "class_id",
        "value" AS "value_0",
        CAST("count" AS BIGINT) AS "n"
      FROM (
        SELECT
          "bucket" AS "class_id",
          "value",
          "count"
        FROM "memory"."main"."__sqlanon_candidate_2"
      ) AS "bucket_row"
    ) AS "counted"
    JOIN "sensitive_code_0" AS "coded"
      ON "counted"."value_0" IS NOT DISTINCT FROM "coded"."value_0"
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
            "entities" < 3
        ) AS "violations"
      ) AS "violating"
    UNION ALL
    SELECT
      1 AS "place",
      CAST((
        SELECT
          MIN(CAST("equivalence_class"."size" AS DOUBLE) / "most") AS "achieved"
        FROM "equivalence_class"
        INNER JOIN (
          SELECT
            "class_id",
            CAST(MAX("n") AS DOUBLE) AS "most",
            CAST(COUNT(*) AS DOUBLE) AS "distinct_values"
          FROM "class_sensitive_value_0" AS "class_sensitive_value"
          GROUP BY
            "class_id"
        ) AS "class"
          ON "class"."class_id" = "equivalence_class"."class_id"
      ) AS DOUBLE) AS "achieved",
      (
        SELECT
          COUNT(*)
        FROM (
          SELECT
            "equivalence_class"."class_id",
            "equivalence_class"."size",
            CASE
              WHEN CAST("distinct_values" AS DECIMAL(38, 0)) * CAST('1' AS DECIMAL(38, 0)) < CAST('3' AS DECIMAL(38, 0))
              THEN CAST("equivalence_class"."size" AS DOUBLE)
              ELSE (
                "most" * CAST('3' AS DECIMAL(38, 0)) - CAST("equivalence_class"."size" AS DOUBLE) * CAST('1' AS DECIMAL(38, 0))
              ) / NULLIF(CAST('3' AS DECIMAL(38, 0)) - CAST('1' AS DECIMAL(38, 0)), 0)
            END AS "excess"
          FROM "equivalence_class"
          INNER JOIN (
            SELECT
              "class_id",
              CAST(MAX("n") AS DOUBLE) AS "most",
              CAST(COUNT(*) AS DOUBLE) AS "distinct_values"
            FROM "class_sensitive_value_0" AS "class_sensitive_value"
            GROUP BY
              "class_id"
          ) AS "class"
            ON "class"."class_id" = "equivalence_class"."class_id"
          WHERE
            CAST("most" AS DECIMAL(38, 0)) * CAST('3' AS DECIMAL(38, 0)) > CAST("equivalence_class"."size" AS DECIMAL(38, 0)) * CAST('1' AS DECIMAL(38, 0))
        ) AS "violations"
      ) AS "violating"
  ) AS "report"
) AS "reported";
