-- Look for: points carry the code of the disease twice, as the subject of requirements and to be published, and the part
-- beside it; a class is a half and a part, in one number, and a half fails with any of its classes.

WITH "half_row" AS (
  SELECT
    "half"."class_id", (("point"."key_0" & 15360) >> 10) AS "subject_0",
    CAST((("point"."key_0" & 32) >> 5) AS INT) AS "part_0", (("point"."key_0" & 15360) >> 10) AS "other_0",
    CAST(1 AS BIGINT) AS "n"
  FROM "__sqlanon_points_1" AS "point"
  POSITIONAL JOIN "__sqlanon_halves_1" AS "half"
  WHERE "half"."class_id" >= 0
), "class_sensitive_value_0" AS ({class_sensitive_value_0-5}), "part_class_0" AS (
  {part_class_0("class_sensitive_value_0", "class_row")}
), "equivalence_class" AS ({part_class_0("half_row", "class_row")}), "sensitive_value_0" AS (
  SELECT *
  FROM "__sqlanon_sensitive_value_0_1"
)
SELECT DISTINCT "region"
FROM (
  SELECT DISTINCT "class_id" // 2 AS "region"
  FROM ({violation(3)}) AS "violation"
  UNION ALL
  SELECT DISTINCT ("class_id" >> 31) // 2 AS "region"
  FROM ({violation-9}) AS "violation"
) AS "violating";

CREATE TEMPORARY TABLE "__sqlanon_points_done_1" AS
SELECT
  "placed"."region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_1", CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_2",
  (("point"."key_0" & 15360) >> 10) AS "subject_0", CAST((("point"."key_0" & 32) >> 5) AS INT) AS "part_0",
  (("point"."key_0" & 15360) >> 10) AS "other_0", CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_1" AS "point"
POSITIONAL JOIN "__sqlanon_placed_1" AS "placed";
