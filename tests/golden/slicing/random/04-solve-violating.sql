-- Look for: regions of slots, and no attributes that could be cut: only those that are new are asked.

CREATE TEMPORARY TABLE "__sqlanon_violating_1" AS
SELECT *
FROM (
  WITH "half_row" AS (
    SELECT
      "slot"."region" AS "class_id", "row"."r_0", "row"."r_1", "row"."r_2", "row"."subject_0", "row"."other_0",
      "row"."n"
    FROM "__sqlanon_rows_in_slots_1" AS "row"
    JOIN "__sqlanon_slots_1" AS "slot" ON "row"."slot" = "slot"."slot"
    WHERE "slot"."is_new"
  ), "class_sensitive_value_0" AS ({class_sensitive_value_0}), "equivalence_class" AS (
    {part_class_0("class_sensitive_value_0", "class_row")}
  ), "sensitive_value_0" AS (SELECT * FROM "__sqlanon_sensitive_value_0_1")
  SELECT DISTINCT "class_id" AS "region"
  FROM ({violation-8(10, '2')}) AS "violation"
) AS "broken";
