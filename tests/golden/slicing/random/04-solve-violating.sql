-- Look for: regions of slots, and no attributes that could be cut: only those that are new are asked.

CREATE TEMPORARY TABLE "__sqlanon_violating_1" AS
SELECT
  *
FROM (
  WITH "half_row" AS (
    SELECT
      "slot"."region" AS "class_id",
      "row"."r_0",
      "row"."r_1",
      "row"."r_2",
      "row"."subject_0",
      "row"."other_0",
      "row"."n"
    FROM "__sqlanon_rows_in_slots_1" AS "row"
    JOIN "__sqlanon_slots_1" AS "slot"
      ON "row"."slot" = "slot"."slot"
    WHERE
      "slot"."is_new"
  ), "class_sensitive_value_0" AS (
    SELECT
      "class_id",
      "subject_0" AS "value",
      CAST(SUM("n") AS BIGINT) AS "n"
    FROM "half_row"
    GROUP BY
      "class_id",
      "subject_0"
  ), "equivalence_class" AS (
    SELECT
      "class_id",
      CAST(SUM("n") AS BIGINT) AS "size",
      CAST(SUM("n") AS BIGINT) AS "entities"
    FROM "class_sensitive_value_0"
    GROUP BY
      "class_id"
  ), "sensitive_value_0" AS (
    SELECT
      *
    FROM "__sqlanon_sensitive_value_0_1"
  )
  SELECT DISTINCT
    "class_id" AS "region"
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
        FROM "equivalence_class"
        WHERE
          "entities" < 10
      )
      UNION ALL
      (
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
          CAST("most" AS DECIMAL(38, 0)) * CAST('2' AS DECIMAL(38, 0)) > CAST("equivalence_class"."size" AS DECIMAL(38, 0)) * CAST('1' AS DECIMAL(38, 0))
      )
    ) AS "violation"
    GROUP BY
      "class_id"
  ) AS "violation"
) AS "broken";
