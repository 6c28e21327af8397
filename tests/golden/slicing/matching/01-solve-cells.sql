-- Look for: l-diversity of the whole table, which is a bucket that everybody matches: it is asked there whatever is asked of slots.

SELECT
  COUNT(*)
FROM (
  WITH "half_row" AS (
    SELECT
      0 AS "class_id",
      (
        (
          "key_0" & 15360
        ) >> 10
      ) AS "subject_0",
      CAST((
        (
          "key_0" & 32
        ) >> 5
      ) AS INT) AS "part_0",
      "n" AS "n"
    FROM "__sqlanon_cells_1"
  ), "class_sensitive_value_0" AS (
    SELECT
      (
        CAST("class_id" AS BIGINT) << 31
      ) | "part_0" AS "class_id",
      "subject_0" AS "value",
      CAST(SUM("n") AS BIGINT) AS "n"
    FROM "half_row"
    GROUP BY
      (
        CAST("class_id" AS BIGINT) << 31
      ) | "part_0",
      "subject_0"
  ), "part_class_0" AS (
    SELECT
      "class_id",
      CAST(SUM("n") AS BIGINT) AS "size",
      CAST(SUM("n") AS BIGINT) AS "entities"
    FROM "class_sensitive_value_0"
    GROUP BY
      "class_id"
  ), "equivalence_class" AS (
    SELECT
      "class_id",
      CAST(SUM("n") AS BIGINT) AS "size",
      CAST(SUM("n") AS BIGINT) AS "entities"
    FROM "half_row"
    GROUP BY
      "class_id"
  )
  SELECT DISTINCT
    "class_id" AS "region"
  FROM (
    SELECT
      "class_id",
      "size",
      CAST("size" AS DOUBLE) AS "excess"
    FROM "equivalence_class"
    WHERE
      "entities" < 10
  ) AS "violation"
) AS "broken";

SELECT
  COUNT(*)
FROM (
  WITH "half_row" AS (
    SELECT
      0 AS "class_id",
      (
        (
          "key_0" & 15360
        ) >> 10
      ) AS "subject_0",
      CAST((
        (
          "key_0" & 32
        ) >> 5
      ) AS INT) AS "part_0",
      "n" AS "n"
    FROM "__sqlanon_cells_1"
  ), "class_sensitive_value_0" AS (
    SELECT
      (
        CAST("class_id" AS BIGINT) << 31
      ) | "part_0" AS "class_id",
      "subject_0" AS "value",
      CAST(SUM("n") AS BIGINT) AS "n"
    FROM "half_row"
    GROUP BY
      (
        CAST("class_id" AS BIGINT) << 31
      ) | "part_0",
      "subject_0"
  ), "part_class_0" AS (
    SELECT
      "class_id",
      CAST(SUM("n") AS BIGINT) AS "size",
      CAST(SUM("n") AS BIGINT) AS "entities"
    FROM "class_sensitive_value_0"
    GROUP BY
      "class_id"
  ), "equivalence_class" AS (
    SELECT
      "class_id",
      CAST(SUM("n") AS BIGINT) AS "size",
      CAST(SUM("n") AS BIGINT) AS "entities"
    FROM "half_row"
    GROUP BY
      "class_id"
  )
  SELECT DISTINCT
    (
      "class_id" >> 31
    ) AS "region"
  FROM (
    SELECT
      "equivalence_class"."class_id",
      "equivalence_class"."size",
      CASE
        WHEN CAST("distinct_values" AS DECIMAL(38, 0)) * CAST('1' AS DECIMAL(38, 0)) < CAST('2' AS DECIMAL(38, 0))
        THEN CAST("equivalence_class"."size" AS DOUBLE)
        ELSE (
          "most" * CAST('2' AS DECIMAL(38, 0)) - CAST("equivalence_class"."size" AS DOUBLE) * CAST('1' AS DECIMAL(38, 0))
        ) / NULLIF(CAST('2' AS DECIMAL(38, 0)) - CAST('1' AS DECIMAL(38, 0)), 0)
      END AS "excess"
    FROM "part_class_0" AS "equivalence_class"
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
      CAST("most" AS DECIMAL(38, 0)) * CAST('2' AS DECIMAL(38, 0)) > CAST("equivalence_class"."size" AS DECIMAL(38, 0)) * CAST('1' AS DECIMAL(38, 0))
  ) AS "violation"
) AS "broken";
