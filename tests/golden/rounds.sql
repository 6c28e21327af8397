-- Look for: "rounds", which asks the classes that are left again and again and ends after the eighth time at the
-- latest; "violating", which asks all requirements once more of just the classes that remain; "kept", empty unless
-- that finds nothing; sensitive values counted once, by class_value_0, from which the sizes come too; no value.

WITH RECURSIVE "source" AS NOT MATERIALIZED (
  SELECT
    CAST("sex" AS TEXT) COLLATE "binary" AS "sex",
    CAST("disease" AS TEXT) COLLATE "binary" AS "disease"
  FROM "main"."visits"
  WHERE
    NOT "system"."main".current_setting(
      CASE
        WHEN NOT "system"."main".lower("system"."main".current_setting('default_collation')) IN ('', 'binary', 'c', 'posix')
        THEN 'sqlanon: this session compares text by a collation, and this view by its bytes; run RESET default_collation'
        WHEN (
          "system"."main".typeof("sex")
        ) <> 'VARCHAR'
        THEN 'sqlanon: the column sex was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
        WHEN (
          "system"."main".regexp_replace(
            "system"."main".typeof("disease"),
            'ENUM\((?:''(?:[^'']|'''')*''(?:,\s*)?)*\)',
            'VARCHAR',
            'g'
          )
        ) <> 'VARCHAR'
        THEN 'sqlanon: the column disease was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
        ELSE 'default_collation'
      END
    ) IS NULL
), "recode_0" AS (
  SELECT
    "value",
    struct_extract(CAST(row("label") AS STRUCT("text" TEXT)), 'text') AS "label",
    CAST(DENSE_RANK() OVER (ORDER BY "label" ASC NULLS LAST) - 1 AS BIGINT) AS "code"
  FROM (
    SELECT
      "value",
      "value" AS "label"
    FROM (
      SELECT DISTINCT
        "sex" AS "value"
      FROM "source"
    ) AS "occurring"
  ) AS "labelled"
), "recoded" AS NOT MATERIALIZED (
  SELECT
    (
      "recode_0"."code" << 0
    ) AS "class_id",
    "recode_0"."label" AS "label_0",
    CAST("source"."disease" AS TEXT) AS "column_1",
    CAST("source"."disease" AS TEXT) AS "asked_0"
  FROM "source"
  JOIN "recode_0"
    ON "source"."sex" IS NOT DISTINCT FROM "recode_0"."value"
    AND "recode_0"."code" < 2147483648
), "class_value_0" AS (
  SELECT
    "class_id",
    "asked_0" AS "value_0",
    COUNT(*) AS "n"
  FROM "recoded"
  GROUP BY
    "class_id",
    "asked_0"
), "equivalence_class" AS (
  SELECT
    "class_id",
    CAST(SUM("n") AS BIGINT) AS "size",
    CAST(SUM("n") AS BIGINT) AS "entities"
  FROM "class_value_0"
  GROUP BY
    "class_id"
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
), "rounds" AS (
  SELECT
    *
  FROM (
    SELECT
      1 AS "round",
      "class_id"
    FROM "equivalence_class"
    UNION ALL
    SELECT
      1 AS "round",
      NULL AS "class_id"
  ) AS "first"
  UNION ALL
  (
    WITH "round_equivalence_class" AS (
      SELECT
        *
      FROM "equivalence_class"
      WHERE
        "class_id" IN (
          SELECT
            "class_id"
          FROM "rounds"
        )
    ), "round_class_sensitive_value_0" AS (
      SELECT
        *
      FROM "class_sensitive_value_0"
      WHERE
        "class_id" IN (
          SELECT
            "class_id"
          FROM "rounds"
        )
    ), "round_sensitive_value_0" AS (
      SELECT
        "value",
        CAST(SUM("n") AS BIGINT) AS "n"
      FROM "round_class_sensitive_value_0"
      GROUP BY
        "value"
    ), "round_violating" AS (
      SELECT
        "class_id"
      FROM (
        SELECT
          "class_id",
          MAX("size") AS "size",
          MAX("excess") AS "excess"
        FROM (
          (
            SELECT
              "class_id",
              "size",
              CAST("size" AS DOUBLE) AS "excess"
            FROM "round_equivalence_class" AS "equivalence_class"
            WHERE
              "entities" < 2
          )
          UNION ALL
          (
            WITH "whole" AS (
              SELECT
                CAST(SUM("n") AS DOUBLE) AS "total",
                1 - CAST(MIN("n") AS DOUBLE) / NULLIF(CAST(SUM("n") AS DOUBLE), 0) AS "farthest"
              FROM "round_sensitive_value_0" AS "sensitive_value"
            ), "class" AS (
              SELECT
                "s"."class_id",
                MAX("c"."size") AS "size",
                MAX("w"."total") AS "total",
                MAX("w"."farthest") - CAST(0.09 AS DOUBLE) AS "most",
                MAX("w"."total" * CAST("c"."size" AS DOUBLE)) AS "scale",
                SUM(
                  LEAST(
                    CAST("s"."n" AS DOUBLE) * "w"."total",
                    CAST(COALESCE("v"."n", 0) AS DOUBLE) * CAST("c"."size" AS DOUBLE)
                  )
                ) AS "common"
              FROM "round_class_sensitive_value_0" AS "s"
              JOIN "round_equivalence_class" AS "c"
                ON "c"."class_id" = "s"."class_id"
              CROSS JOIN "whole" AS "w"
              LEFT JOIN "round_sensitive_value_0" AS "v"
                ON "v"."value" = "s"."value"
              GROUP BY
                "s"."class_id"
            )
            SELECT
              "class_id",
              "size",
              CASE
                WHEN "most" > 1e-9
                THEN CAST("size" AS DOUBLE) * LEAST(
                  1,
                  GREATEST(0, (
                    "scale" - "common"
                  ) / NULLIF("scale", 0) - CAST(0.09 AS DOUBLE)) / NULLIF("most", 0)
                )
                ELSE CAST(0 AS DOUBLE)
              END AS "excess"
            FROM "class"
            WHERE
              CAST("scale" - "common" AS DECIMAL(38, 0)) * CAST('100' AS DECIMAL(38, 0)) > CAST('9' AS DECIMAL(38, 0)) * CAST("scale" AS DECIMAL(38, 0))
          )
        ) AS "violation"
        GROUP BY
          "class_id"
      ) AS "violations"
    )
    SELECT
      "round" + 1 AS "round",
      "class_id"
    FROM "rounds"
    WHERE
      (
        "class_id" IS NULL
        OR NOT "class_id" IN (
          SELECT
            "class_id"
          FROM "round_violating"
        )
      )
      AND EXISTS(
        SELECT
          1
        FROM "round_violating"
      )
      AND "round" < 8
  )
), "remaining" AS (
  SELECT
    "class_id"
  FROM "rounds"
  WHERE
    "round" = (
      SELECT
        MAX("round")
      FROM "rounds"
    )
    AND NOT "class_id" IS NULL
), "remaining_equivalence_class" AS (
  SELECT
    *
  FROM "equivalence_class"
  WHERE
    "class_id" IN (
      SELECT
        "class_id"
      FROM "remaining"
    )
), "remaining_class_sensitive_value_0" AS (
  SELECT
    *
  FROM "class_sensitive_value_0"
  WHERE
    "class_id" IN (
      SELECT
        "class_id"
      FROM "remaining"
    )
), "remaining_sensitive_value_0" AS (
  SELECT
    "value",
    CAST(SUM("n") AS BIGINT) AS "n"
  FROM "remaining_class_sensitive_value_0"
  GROUP BY
    "value"
), "violating" AS (
  SELECT
    "class_id"
  FROM (
    SELECT
      "class_id",
      MAX("size") AS "size",
      MAX("excess") AS "excess"
    FROM (
      (
        SELECT
          "class_id",
          "size",
          CAST("size" AS DOUBLE) AS "excess"
        FROM "remaining_equivalence_class" AS "equivalence_class"
        WHERE
          "entities" < 2
      )
      UNION ALL
      (
        WITH "whole" AS (
          SELECT
            CAST(SUM("n") AS DOUBLE) AS "total",
            1 - CAST(MIN("n") AS DOUBLE) / NULLIF(CAST(SUM("n") AS DOUBLE), 0) AS "farthest"
          FROM "remaining_sensitive_value_0" AS "sensitive_value"
        ), "class" AS (
          SELECT
            "s"."class_id",
            MAX("c"."size") AS "size",
            MAX("w"."total") AS "total",
            MAX("w"."farthest") - CAST(0.09 AS DOUBLE) AS "most",
            MAX("w"."total" * CAST("c"."size" AS DOUBLE)) AS "scale",
            SUM(
              LEAST(
                CAST("s"."n" AS DOUBLE) * "w"."total",
                CAST(COALESCE("v"."n", 0) AS DOUBLE) * CAST("c"."size" AS DOUBLE)
              )
            ) AS "common"
          FROM "remaining_class_sensitive_value_0" AS "s"
          JOIN "remaining_equivalence_class" AS "c"
            ON "c"."class_id" = "s"."class_id"
          CROSS JOIN "whole" AS "w"
          LEFT JOIN "remaining_sensitive_value_0" AS "v"
            ON "v"."value" = "s"."value"
          GROUP BY
            "s"."class_id"
        )
        SELECT
          "class_id",
          "size",
          CASE
            WHEN "most" > 1e-9
            THEN CAST("size" AS DOUBLE) * LEAST(
              1,
              GREATEST(0, (
                "scale" - "common"
              ) / NULLIF("scale", 0) - CAST(0.09 AS DOUBLE)) / NULLIF("most", 0)
            )
            ELSE CAST(0 AS DOUBLE)
          END AS "excess"
        FROM "class"
        WHERE
          CAST("scale" - "common" AS DECIMAL(38, 0)) * CAST('100' AS DECIMAL(38, 0)) > CAST('9' AS DECIMAL(38, 0)) * CAST("scale" AS DECIMAL(38, 0))
      )
    ) AS "violation"
    GROUP BY
      "class_id"
  ) AS "violations"
), "kept" AS (
  SELECT
    "class_id"
  FROM "remaining"
  WHERE
    NOT EXISTS(
      SELECT
        1
      FROM "violating"
    )
)
SELECT
  "recoded"."label_0" AS "sex",
  struct_extract(CAST(row("recoded"."column_1") AS STRUCT("text" TEXT)), 'text') AS "disease"
FROM "recoded"
JOIN "kept"
  ON "recoded"."class_id" = "kept"."class_id"
WHERE
  (
    SELECT
      CASE
        WHEN "system"."main".count(*) = 0
        THEN TRUE
        ELSE "system"."main".error(
          'sqlanon: a temporary table or view is called visits, as what this view reads; run DROP TABLE "temp"."visits", DROP VIEW "temp"."visits", or unregister it if it is a data frame'
        )
      END
    FROM (
      SELECT
        "table_name" AS "name"
      FROM "system"."main".duckdb_tables()
      WHERE
        "database_name" = 'temp'
      UNION ALL
      SELECT
        "view_name"
      FROM "system"."main".duckdb_views()
      WHERE
        "database_name" = 'temp'
    ) AS "temporary"
    WHERE
      "system"."main".lower("name") IN ("system"."main".lower('visits'))
  )
