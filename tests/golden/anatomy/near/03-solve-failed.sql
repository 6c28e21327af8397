-- Look for: each half as a class, number * 2 + side, with its sensitive values; l-diversity's text with l = 3 beside
-- k-anonymity's: a region must itself be one that can be dealt.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_failed_1" AS
WITH "half_row" AS (
  SELECT
    CAST("attempt"."number" * 2 + CASE
      WHEN CAST((("point"."key_0" >> "attempt"."shift") & "attempt"."mask") AS INT) > "attempt"."median" THEN 1
      ELSE 0
    END AS BIGINT) AS "class_id",
    (("point"."key_0" & 15360) >> 10) AS "subject_0", CAST(1 AS BIGINT) AS "n"
  FROM "__sqlanon_points_1" AS "point"
  JOIN ({attempt}) AS "attempt" ON "point"."label" = "attempt"."label"
), "class_sensitive_value_0" AS ({class_sensitive_value_0}), "equivalence_class" AS (
  {part_class_0("class_sensitive_value_0", "class_row")}
), "sensitive_value_0" AS (SELECT * FROM "__sqlanon_sensitive_value_0_1")
SELECT DISTINCT "class_id" // 2 AS "number"
FROM ({violation-8(3, '3')}) AS "violation";
