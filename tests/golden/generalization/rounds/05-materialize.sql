-- Look for: "rounds" ends after the eighth; dob is the constant '*' and is joined to nothing; classes that are left
-- are asked by t-closeness against their own distribution, not the source's; "kept" is empty if anything still
-- violates.

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
    "system"."main"."+"(
      "system"."main"."<<"("recode_1"."code", 0),
      "system"."main"."<<"("recode_2"."code", 31)
    ) AS "class_id",
    "recode_1"."label" AS "label_1",
    "recode_2"."label" AS "label_2",
    "source"."disease" AS "column_3",
    "source"."disease" AS "asked_0"
  FROM (
    (
      "source"
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
    WITH "round_equivalence_class" AS (
      SELECT
        *
      FROM "equivalence_class"
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
    ), "round_sensitive_value_0" AS (
      SELECT
        "value",
        CAST("system"."main".sum("n") AS BIGINT) AS "n"
      FROM "round_class_sensitive_value_0"
      GROUP BY
        "value"
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
              "class_id",
              "size",
              CAST("size" AS DOUBLE) AS "excess"
            FROM "round_equivalence_class" AS "equivalence_class"
            WHERE
              (
                "entities" < 2
              )
          )
          UNION ALL
          (
            WITH "whole" AS (
              SELECT
                CAST("system"."main".sum("n") AS DOUBLE) AS "total",
                "system"."main"."-"(
                  1,
                  "system"."main"."/"(
                    CAST("system"."main".min("n") AS DOUBLE),
                    "system"."main"."nullif"(CAST("system"."main".sum("n") AS DOUBLE), 0)
                  )
                ) AS "farthest"
              FROM "round_sensitive_value_0" AS "sensitive_value"
            ), "class" AS (
              SELECT
                "s"."class_id",
                "system"."main".max("c"."size") AS "size",
                "system"."main".max("w"."total") AS "total",
                "system"."main"."-"("system"."main".max("w"."farthest"), CAST(0.5 AS DOUBLE)) AS "most",
                "system"."main".max("system"."main"."*"("w"."total", CAST("c"."size" AS DOUBLE))) AS "scale",
                "system"."main".sum(
                  "system"."main".least(
                    "system"."main"."*"(CAST("s"."n" AS DOUBLE), "w"."total"),
                    "system"."main"."*"(CAST(COALESCE("v"."n", 0) AS DOUBLE), CAST("c"."size" AS DOUBLE))
                  )
                ) AS "common"
              FROM (
                (
                  (
                    "round_class_sensitive_value_0" AS "s"
                      INNER JOIN "round_equivalence_class" AS "c"
                        ON (
                          (
                            "c"."class_id" = "s"."class_id"
                          )
                        )
                  )
                  CROSS JOIN "whole" AS "w"
                )
                LEFT JOIN "round_sensitive_value_0" AS "v"
                  ON (
                    (
                      "v"."value" = "s"."value"
                    )
                  )
              )
              GROUP BY
                "s"."class_id"
            )
            SELECT
              "class_id",
              "size",
              CASE
                WHEN (
                  (
                    "most" > 1e-9
                  )
                )
                THEN (
                  "system"."main"."*"(
                    CAST("size" AS DOUBLE),
                    "system"."main".least(
                      1,
                      "system"."main"."/"(
                        "system"."main".greatest(
                          0,
                          "system"."main"."-"(
                            "system"."main"."/"("system"."main"."-"("scale", "common"), "system"."main"."nullif"("scale", 0)),
                            CAST(0.5 AS DOUBLE)
                          )
                        ),
                        "system"."main"."nullif"("most", 0)
                      )
                    )
                  )
                )
                ELSE CAST(0 AS DOUBLE)
              END AS "excess"
            FROM "class"
            WHERE
              (
                "system"."main"."*"(
                  CAST("system"."main"."-"("scale", "common") AS DECIMAL(38, 0)),
                  CAST('2' AS DECIMAL(38, 0))
                ) > "system"."main"."*"(CAST('1' AS DECIMAL(38, 0)), CAST("scale" AS DECIMAL(38, 0)))
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
), "remaining_equivalence_class" AS (
  SELECT
    *
  FROM "equivalence_class"
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
), "remaining_sensitive_value_0" AS (
  SELECT
    "value",
    CAST("system"."main".sum("n") AS BIGINT) AS "n"
  FROM "remaining_class_sensitive_value_0"
  GROUP BY
    "value"
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
          "class_id",
          "size",
          CAST("size" AS DOUBLE) AS "excess"
        FROM "remaining_equivalence_class" AS "equivalence_class"
        WHERE
          (
            "entities" < 2
          )
      )
      UNION ALL
      (
        WITH "whole" AS (
          SELECT
            CAST("system"."main".sum("n") AS DOUBLE) AS "total",
            "system"."main"."-"(
              1,
              "system"."main"."/"(
                CAST("system"."main".min("n") AS DOUBLE),
                "system"."main"."nullif"(CAST("system"."main".sum("n") AS DOUBLE), 0)
              )
            ) AS "farthest"
          FROM "remaining_sensitive_value_0" AS "sensitive_value"
        ), "class" AS (
          SELECT
            "s"."class_id",
            "system"."main".max("c"."size") AS "size",
            "system"."main".max("w"."total") AS "total",
            "system"."main"."-"("system"."main".max("w"."farthest"), CAST(0.5 AS DOUBLE)) AS "most",
            "system"."main".max("system"."main"."*"("w"."total", CAST("c"."size" AS DOUBLE))) AS "scale",
            "system"."main".sum(
              "system"."main".least(
                "system"."main"."*"(CAST("s"."n" AS DOUBLE), "w"."total"),
                "system"."main"."*"(CAST(COALESCE("v"."n", 0) AS DOUBLE), CAST("c"."size" AS DOUBLE))
              )
            ) AS "common"
          FROM (
            (
              (
                "remaining_class_sensitive_value_0" AS "s"
                  INNER JOIN "remaining_equivalence_class" AS "c"
                    ON (
                      (
                        "c"."class_id" = "s"."class_id"
                      )
                    )
              )
              CROSS JOIN "whole" AS "w"
            )
            LEFT JOIN "remaining_sensitive_value_0" AS "v"
              ON (
                (
                  "v"."value" = "s"."value"
                )
              )
          )
          GROUP BY
            "s"."class_id"
        )
        SELECT
          "class_id",
          "size",
          CASE
            WHEN (
              (
                "most" > 1e-9
              )
            )
            THEN (
              "system"."main"."*"(
                CAST("size" AS DOUBLE),
                "system"."main".least(
                  1,
                  "system"."main"."/"(
                    "system"."main".greatest(
                      0,
                      "system"."main"."-"(
                        "system"."main"."/"("system"."main"."-"("scale", "common"), "system"."main"."nullif"("scale", 0)),
                        CAST(0.5 AS DOUBLE)
                      )
                    ),
                    "system"."main"."nullif"("most", 0)
                  )
                )
              )
            )
            ELSE CAST(0 AS DOUBLE)
          END AS "excess"
        FROM "class"
        WHERE
          (
            "system"."main"."*"(
              CAST("system"."main"."-"("scale", "common") AS DECIMAL(38, 0)),
              CAST('2' AS DECIMAL(38, 0))
            ) > "system"."main"."*"(CAST('1' AS DECIMAL(38, 0)), CAST("scale" AS DECIMAL(38, 0)))
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
  '*' AS "dob",
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
