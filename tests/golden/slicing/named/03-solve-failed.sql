-- Look for: halves of a region are attempted as Mondrian does it; a class is a half and a part, in one number, and a half fails
-- with any of its classes.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_failed_1" AS
WITH "half_row" AS (
  SELECT
    CAST("attempt"."number" * 2 + CASE
      WHEN CAST((("point"."key_0" >> "attempt"."shift") & "attempt"."mask") AS INT) > "attempt"."median" THEN 1
      ELSE 0
    END AS BIGINT) AS "class_id",
    (("point"."key_0" & 15360) >> 10) AS "subject_0", CAST((("point"."key_0" & 32) >> 5) AS INT) AS "part_0",
    (("point"."key_0" & 15360) >> 10) AS "other_0", CAST(1 AS BIGINT) AS "n"
  FROM "__sqlanon_points_1" AS "point"
  JOIN ({attempt}) AS "attempt" ON "point"."label" = "attempt"."label"
), "class_sensitive_value_0" AS ({class_sensitive_value_0-5}), "part_class_0" AS (
  {part_class_0("class_sensitive_value_0", "class_row")}
), "equivalence_class" AS ({part_class_0("half_row", "class_row")}), "sensitive_value_0" AS (
  SELECT *
  FROM "__sqlanon_sensitive_value_0_1"
)
SELECT DISTINCT "number"
FROM (
  SELECT DISTINCT "class_id" // 2 AS "number"
  FROM ({violation(3)}) AS "violation"
  UNION ALL
  SELECT DISTINCT ("class_id" >> 31) // 2 AS "number"
  FROM ({violation-9}) AS "violation"
) AS "violating";
