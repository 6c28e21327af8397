-- Look for: each half as a class, region * 2 + side, with its sensitive values (subject_0); l-diversity's text with l = 3
-- beside k-anonymity's: a region must itself be one that can be dealt.

WITH "half_row" AS (
  SELECT "half"."class_id", (("point"."key_0" & 15360) >> 10) AS "subject_0", CAST(1 AS BIGINT) AS "n"
  FROM "__sqlanon_points_1" AS "point"
  POSITIONAL JOIN "__sqlanon_halves_1" AS "half"
  WHERE "half"."class_id" >= 0
), "class_sensitive_value_0" AS ({class_sensitive_value_0}), "equivalence_class" AS (
  {part_class_0("class_sensitive_value_0", "class_row")}
), "sensitive_value_0" AS (SELECT * FROM "__sqlanon_sensitive_value_0_1")
SELECT DISTINCT "class_id" // 2 AS "region"
FROM ({violation-8(3, '3')}) AS "violation";

CREATE TEMPORARY TABLE "__sqlanon_points_done_1" AS
SELECT
  "placed"."region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_1", CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_2",
  (("point"."key_0" & 15360) >> 10) AS "subject_0", CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_1" AS "point"
POSITIONAL JOIN "__sqlanon_placed_1" AS "placed";
