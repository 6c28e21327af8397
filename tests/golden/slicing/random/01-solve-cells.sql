-- Look for: k = 10 and l = 2 of all rows as one bucket.

SELECT COUNT(*)
FROM (
  WITH "half_row" AS (
    SELECT 0 AS "class_id", (("key_0" & 15360) >> 10) AS "subject_0", "n" AS "n"
    FROM "__sqlanon_cells_1"
  ), "class_sensitive_value_0" AS ({class_sensitive_value_0}), "equivalence_class" AS (
    {part_class_0("class_sensitive_value_0", "class_row")}
  ), "sensitive_value_0" AS (SELECT * FROM "__sqlanon_sensitive_value_0_1")
  SELECT DISTINCT "class_id" AS "region"
  FROM ({violation(10)}) AS "violation"
) AS "broken";

SELECT COUNT(*)
FROM (
  WITH "half_row" AS (
    SELECT 0 AS "class_id", (("key_0" & 15360) >> 10) AS "subject_0", "n" AS "n"
    FROM "__sqlanon_cells_1"
  ), "class_sensitive_value_0" AS ({class_sensitive_value_0}), "equivalence_class" AS (
    {part_class_0("class_sensitive_value_0", "class_row")}
  ), "sensitive_value_0" AS (SELECT * FROM "__sqlanon_sensitive_value_0_1")
  SELECT DISTINCT "class_id" AS "region"
  FROM ({violation-10('2')}) AS "violation"
) AS "broken";
