-- Look for: SECURE VIEW; WHERE refuses a session with a collation or a column of another type; texts under COLLATE
-- "binary"; what is published goes through a STRUCT, which takes the collation off again; no value of the source.

CREATE SECURE VIEW "memory"."main"."__sqlanon_candidate_1" AS
WITH "source" AS NOT MATERIALIZED (
  SELECT
    "dob",
    CAST("sex" AS TEXT) COLLATE "binary" AS "sex",
    CAST("zip" AS TEXT) COLLATE "binary" AS "zip",
    CAST("disease" AS TEXT) COLLATE "binary" AS "disease"
  FROM "main"."patients"
  WHERE
    (
      NOT (
        "system"."main".current_setting(
          CASE
            WHEN (
              (
                NOT (
                  "system"."main".lower("system"."main".current_setting('default_collation')) IN ('', 'binary', 'c', 'posix')
                )
              )
            )
            THEN (
              'sqlanon: this session compares text by a collation, and this view by its bytes; run RESET default_collation'
            )
            WHEN (
              (
                "system"."main".typeof("dob") <> 'DATE'
              )
            )
            THEN (
              'sqlanon: the column dob was DATE when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
            )
            WHEN (
              (
                "system"."main".typeof("sex") <> 'VARCHAR'
              )
            )
            THEN (
              'sqlanon: the column sex was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
            )
            WHEN (
              (
                "system"."main".typeof("zip") <> 'VARCHAR'
              )
            )
            THEN (
              'sqlanon: the column zip was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
            )
            WHEN (
              (
                "system"."main".typeof("disease") <> 'VARCHAR'
              )
            )
            THEN (
              'sqlanon: the column disease was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
            )
            ELSE 'default_collation'
          END
        ) IS NULL
      )
    )
), "recode_0" AS (
  SELECT
    "value",
    "system"."main".struct_extract(CAST("system"."main"."row"("label") AS STRUCT("text" TEXT)), 'text') AS "label",
    CAST("system"."main"."-"("system"."main".dense_rank() OVER (ORDER BY "label" ASC NULLS LAST), 1) AS BIGINT) AS "code"
  FROM (
    SELECT
      "value",
      CASE
        WHEN (
          (
            "value" = CAST('infinity' AS DATE)
          )
        )
        THEN (
          'infinity'
        )
        WHEN (
          (
            "value" = CAST('-infinity' AS DATE)
          )
        )
        THEN (
          '-infinity'
        )
        ELSE "system"."main"."||"(
          CASE
            WHEN (
              (
                "system"."main".date_part('YEAR', "value") < 0
              )
            )
            THEN (
              '-'
            )
            ELSE ''
          END,
          "system"."main"."||"(
            "system"."main".repeat(
              '0',
              "system"."main"."-"(
                4,
                "system"."main".length(CAST("system"."main".abs("system"."main".date_part('YEAR', "value")) AS TEXT))
              )
            ),
            CAST("system"."main".abs("system"."main".date_part('YEAR', "value")) AS TEXT)
          )
        )
      END AS "label"
    FROM (
      SELECT DISTINCT
        "dob" AS "value"
      FROM "source"
    ) AS "occurring"
  ) AS "labelled"
), "recode_1" AS (
  SELECT
    "value",
    "system"."main".struct_extract(CAST("system"."main"."row"("label") AS STRUCT("text" TEXT)), 'text') AS "label",
    CAST("system"."main"."-"("system"."main".dense_rank() OVER (ORDER BY "label" ASC NULLS LAST), 1) AS BIGINT) AS "code"
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
), "recode_2" AS (
  SELECT
    "value",
    "system"."main".struct_extract(CAST("system"."main"."row"("label") AS STRUCT("text" TEXT)), 'text') AS "label",
    CAST("system"."main"."-"("system"."main".dense_rank() OVER (ORDER BY "label" ASC NULLS LAST), 1) AS BIGINT) AS "code"
  FROM (
    SELECT
      "value",
      "system"."main"."||"(
        "system"."main"."left"(CAST("value" AS TEXT), 3),
        "system"."main".repeat('*', "system"."main"."-"("system"."main".length(CAST("value" AS TEXT)), 3))
      ) AS "label"
    FROM (
      SELECT DISTINCT
        "zip" AS "value"
      FROM "source"
    ) AS "occurring"
  ) AS "labelled"
), "recoded" AS NOT MATERIALIZED (
  SELECT
    "system"."main".struct_pack(
      "key_0" := "system"."main"."+"(
        "system"."main"."<<"("recode_0"."code", 0),
        "system"."main"."<<"("recode_1"."code", 31)
      ),
      "key_1" := "system"."main"."<<"("recode_2"."code", 0)
    ) AS "class_id",
    "recode_0"."label" AS "label_0",
    "recode_1"."label" AS "label_1",
    "recode_2"."label" AS "label_2",
    "source"."disease" AS "column_3"
  FROM (
    (
      (
        "source"
          INNER JOIN "recode_0"
            ON (
              (
                (
                  "source"."dob" IS NOT DISTINCT FROM "recode_0"."value"
                )
                AND (
                  "recode_0"."code" < 2147483648
                )
              )
            )
      )
      INNER JOIN "recode_1"
        ON (
          (
            (
              "source"."sex" IS NOT DISTINCT FROM "recode_1"."value"
            )
            AND (
              "recode_1"."code" < 2147483648
            )
          )
        )
    )
    INNER JOIN "recode_2"
      ON (
        (
          (
            "source"."zip" IS NOT DISTINCT FROM "recode_2"."value"
          )
          AND (
            "recode_2"."code" < 2147483648
          )
        )
      )
  )
), "equivalence_class" AS (
  SELECT
    "class_id",
    "system"."main".count_star() AS "size",
    "system"."main".count_star() AS "entities"
  FROM "recoded"
  GROUP BY
    "class_id"
), "kept" AS (
  SELECT
    "class_id"
  FROM "equivalence_class"
  WHERE
    (
      NOT (
        "class_id" = ANY (
          SELECT
            "class_id"
          FROM (
            SELECT
              "class_id",
              "size",
              CAST("size" AS DOUBLE) AS "excess"
            FROM "equivalence_class"
            WHERE
              (
                "entities" < 4
              )
          ) AS "violations"
        )
      )
    )
)
SELECT
  "recoded"."label_0" AS "dob",
  "recoded"."label_1" AS "sex",
  "recoded"."label_2" AS "zip",
  "system"."main".struct_extract(CAST("system"."main"."row"("recoded"."column_3") AS STRUCT("text" TEXT)), 'text') AS "disease"
FROM (
  "recoded"
    INNER JOIN "kept"
      ON (
        (
          "recoded"."class_id" = "kept"."class_id"
        )
      )
)
WHERE
  (
    SELECT
      CASE
        WHEN (
          (
            "system"."main".count_star() = 0
          )
        )
        THEN (
          TRUE
        )
        ELSE "system"."main"."error"(
          'sqlanon: a temporary table or view is called patients, as what this view reads; run DROP TABLE "temp"."patients", DROP VIEW "temp"."patients", or unregister it if it is a data frame'
        )
      END
    FROM (
      (
        SELECT
          "table_name" AS "name"
        FROM "system"."main".duckdb_tables()
        WHERE
          (
            "database_name" = 'temp'
          )
      )
      UNION ALL
      (
        SELECT
          "view_name"
        FROM "system"."main".duckdb_views()
        WHERE
          (
            "database_name" = 'temp'
          )
      )
    ) AS "temporary"
    WHERE
      (
        "system"."main".lower("name") IN ("system"."main".lower('patients'))
      )
  );
