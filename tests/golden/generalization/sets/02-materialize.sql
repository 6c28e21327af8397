-- Look for: in each round the relations of both sets made anew from the classes that are left; a class by all
-- quasi-identifiers goes if the class of either set that it lies in violates, class_of_set_0 or class_of_set_1; "violating" asks both
-- sets once more.

CREATE SECURE VIEW "memory"."main"."__sqlanon_candidate_1" AS
WITH RECURSIVE "source" AS NOT MATERIALIZED (
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
          "system"."main"."||"(
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
                  3,
                  "system"."main".length(
                    CAST("system"."main"."//"("system"."main".abs("system"."main".date_part('YEAR', "value")), 10) AS TEXT)
                  )
                )
              ),
              CAST("system"."main"."//"("system"."main".abs("system"."main".date_part('YEAR', "value")), 10) AS TEXT)
            )
          ),
          '*'
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
        "system"."main"."left"(CAST("value" AS TEXT), 4),
        "system"."main".repeat('*', "system"."main"."-"("system"."main".length(CAST("value" AS TEXT)), 4))
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
    "source"."disease" AS "column_3",
    "source"."disease" AS "asked_0"
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
), "class_value_0" AS (
  SELECT
    "class_id",
    "asked_0" AS "value_0",
    "system"."main".count_star() AS "n"
  FROM "recoded"
  GROUP BY
    "class_id",
    "asked_0"
), "equivalence_class" AS (
  SELECT
    "class_id",
    CAST("system"."main".sum("n") AS BIGINT) AS "size",
    CAST("system"."main".sum("n") AS BIGINT) AS "entities"
  FROM "class_value_0"
  GROUP BY
    "class_id"
), "class_of_set_0" AS (
  SELECT
    "class_id",
    "size",
    "entities",
    "system"."main".struct_pack(
      "key_0" := "system"."main"."&"("class_id"."key_0", 2147483647),
      "key_1" := "system"."main"."&"("class_id"."key_1", 2147483647)
    ) AS "set_class"
  FROM "equivalence_class"
), "class_of_set_1" AS (
  SELECT
    "class_id",
    "size",
    "entities",
    "system"."main".struct_pack(
      "key_0" := "system"."main"."&"("class_id"."key_0", 4611686016279904256),
      "key_1" := "system"."main"."&"("class_id"."key_1", 2147483647)
    ) AS "set_class"
  FROM "equivalence_class"
), "sensitive_code_0" AS (
  SELECT
    "value_0",
    "system"."main".row_number() OVER (ORDER BY (
      "value_0" IS NULL
    ) ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
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
  FROM (
    "class_value_0" AS "counted"
      INNER JOIN "sensitive_code_0" AS "coded"
        ON (
          (
            "counted"."value_0" IS NOT DISTINCT FROM "coded"."value_0"
          )
        )
  )
), "equivalence_class_on_0" AS (
  SELECT
    "set_class" AS "class_id",
    CAST("system"."main".sum("size") AS BIGINT) AS "size",
    CAST("system"."main".sum("entities") AS BIGINT) AS "entities"
  FROM "class_of_set_0"
  GROUP BY
    "set_class"
), "class_sensitive_value_0_on_1" AS (
  SELECT
    "class"."set_class" AS "class_id",
    "part"."value",
    CAST("system"."main".sum("part"."n") AS BIGINT) AS "n"
  FROM (
    "class_sensitive_value_0" AS "part"
      INNER JOIN "class_of_set_1" AS "class"
        ON (
          (
            "part"."class_id" = "class"."class_id"
          )
        )
  )
  GROUP BY
    "class"."set_class",
    "part"."value"
), "rounds" AS (
  (
    SELECT
      *
    FROM (
      (
        SELECT
          1 AS "round",
          "class_id"
        FROM "equivalence_class"
      )
      UNION ALL
      (
        SELECT
          1 AS "round",
          NULL AS "class_id"
      )
    ) AS "first"
  )
  UNION ALL
  (
    WITH "round_class_of_set_0" AS (
      SELECT
        *
      FROM "class_of_set_0"
      WHERE
        (
          "class_id" = ANY (
            SELECT
              "class_id"
            FROM "rounds"
          )
        )
    ), "round_class_sensitive_value_0" AS (
      SELECT
        *
      FROM "class_sensitive_value_0"
      WHERE
        (
          "class_id" = ANY (
            SELECT
              "class_id"
            FROM "rounds"
          )
        )
    ), "round_class_of_set_1" AS (
      SELECT
        *
      FROM "class_of_set_1"
      WHERE
        (
          "class_id" = ANY (
            SELECT
              "class_id"
            FROM "rounds"
          )
        )
    ), "round_equivalence_class_on_0" AS (
      SELECT
        "set_class" AS "class_id",
        CAST("system"."main".sum("size") AS BIGINT) AS "size",
        CAST("system"."main".sum("entities") AS BIGINT) AS "entities"
      FROM "round_class_of_set_0"
      GROUP BY
        "set_class"
    ), "round_class_sensitive_value_0_on_1" AS (
      SELECT
        "class"."set_class" AS "class_id",
        "part"."value",
        CAST("system"."main".sum("part"."n") AS BIGINT) AS "n"
      FROM (
        "round_class_sensitive_value_0" AS "part"
          INNER JOIN "round_class_of_set_1" AS "class"
            ON (
              (
                "part"."class_id" = "class"."class_id"
              )
            )
      )
      GROUP BY
        "class"."set_class",
        "part"."value"
    ), "round_violating" AS (
      SELECT
        "class_id"
      FROM (
        SELECT
          "class_id",
          "system"."main".max("size") AS "size",
          "system"."main".max("excess") AS "excess"
        FROM (
          (
            SELECT
              "class"."class_id",
              "class"."size",
              "system"."main".least("violation"."excess", "class"."size") AS "excess"
            FROM (
              "round_class_of_set_0" AS "class"
                INNER JOIN (
                  SELECT
                    "class_id",
                    "size",
                    CAST("size" AS DOUBLE) AS "excess"
                  FROM "round_equivalence_class_on_0" AS "equivalence_class"
                  WHERE
                    (
                      "entities" < 3
                    )
                ) AS "violation"
                  ON (
                    (
                      "class"."set_class" = "violation"."class_id"
                    )
                  )
            )
          )
          UNION ALL
          (
            SELECT
              "class"."class_id",
              "class"."size",
              "system"."main".least("violation"."excess", "class"."size") AS "excess"
            FROM (
              "round_class_of_set_1" AS "class"
                INNER JOIN (
                  SELECT
                    "class_id",
                    CAST("system"."main".sum("n") AS BIGINT) AS "size",
                    CAST("system"."main".sum("n") AS DOUBLE) AS "excess"
                  FROM "round_class_sensitive_value_0_on_1" AS "class_sensitive_value"
                  GROUP BY
                    "class_id"
                  HAVING
                    (
                      "system"."main".count_star() < 3
                    )
                ) AS "violation"
                  ON (
                    (
                      "class"."set_class" = "violation"."class_id"
                    )
                  )
            )
          )
        ) AS "violation"
        GROUP BY
          "class_id"
      ) AS "violations"
    )
    SELECT
      "system"."main"."+"("round", 1) AS "round",
      "class_id"
    FROM "rounds"
    WHERE
      (
        (
          (
            "class_id" IS NULL
          )
          OR (
            NOT (
              "class_id" = ANY (
                SELECT
                  "class_id"
                FROM "round_violating"
              )
            )
          )
        )
        AND EXISTS(
          SELECT
            1
          FROM "round_violating"
        )
        AND (
          "round" < 8
        )
      )
  )
), "remaining" AS (
  SELECT
    "class_id"
  FROM "rounds"
  WHERE
    (
      (
        "round" = (
          SELECT
            "system"."main".max("round")
          FROM "rounds"
        )
      )
      AND (
        NOT (
          "class_id" IS NULL
        )
      )
    )
), "remaining_class_of_set_0" AS (
  SELECT
    *
  FROM "class_of_set_0"
  WHERE
    (
      "class_id" = ANY (
        SELECT
          "class_id"
        FROM "remaining"
      )
    )
), "remaining_class_sensitive_value_0" AS (
  SELECT
    *
  FROM "class_sensitive_value_0"
  WHERE
    (
      "class_id" = ANY (
        SELECT
          "class_id"
        FROM "remaining"
      )
    )
), "remaining_class_of_set_1" AS (
  SELECT
    *
  FROM "class_of_set_1"
  WHERE
    (
      "class_id" = ANY (
        SELECT
          "class_id"
        FROM "remaining"
      )
    )
), "remaining_equivalence_class_on_0" AS (
  SELECT
    "set_class" AS "class_id",
    CAST("system"."main".sum("size") AS BIGINT) AS "size",
    CAST("system"."main".sum("entities") AS BIGINT) AS "entities"
  FROM "remaining_class_of_set_0"
  GROUP BY
    "set_class"
), "remaining_class_sensitive_value_0_on_1" AS (
  SELECT
    "class"."set_class" AS "class_id",
    "part"."value",
    CAST("system"."main".sum("part"."n") AS BIGINT) AS "n"
  FROM (
    "remaining_class_sensitive_value_0" AS "part"
      INNER JOIN "remaining_class_of_set_1" AS "class"
        ON (
          (
            "part"."class_id" = "class"."class_id"
          )
        )
  )
  GROUP BY
    "class"."set_class",
    "part"."value"
), "violating" AS (
  SELECT
    "class_id"
  FROM (
    SELECT
      "class_id",
      "system"."main".max("size") AS "size",
      "system"."main".max("excess") AS "excess"
    FROM (
      (
        SELECT
          "class"."class_id",
          "class"."size",
          "system"."main".least("violation"."excess", "class"."size") AS "excess"
        FROM (
          "remaining_class_of_set_0" AS "class"
            INNER JOIN (
              SELECT
                "class_id",
                "size",
                CAST("size" AS DOUBLE) AS "excess"
              FROM "remaining_equivalence_class_on_0" AS "equivalence_class"
              WHERE
                (
                  "entities" < 3
                )
            ) AS "violation"
              ON (
                (
                  "class"."set_class" = "violation"."class_id"
                )
              )
        )
      )
      UNION ALL
      (
        SELECT
          "class"."class_id",
          "class"."size",
          "system"."main".least("violation"."excess", "class"."size") AS "excess"
        FROM (
          "remaining_class_of_set_1" AS "class"
            INNER JOIN (
              SELECT
                "class_id",
                CAST("system"."main".sum("n") AS BIGINT) AS "size",
                CAST("system"."main".sum("n") AS DOUBLE) AS "excess"
              FROM "remaining_class_sensitive_value_0_on_1" AS "class_sensitive_value"
              GROUP BY
                "class_id"
              HAVING
                (
                  "system"."main".count_star() < 3
                )
            ) AS "violation"
              ON (
                (
                  "class"."set_class" = "violation"."class_id"
                )
              )
        )
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
    (
      NOT EXISTS(
        SELECT
          1
        FROM "violating"
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
